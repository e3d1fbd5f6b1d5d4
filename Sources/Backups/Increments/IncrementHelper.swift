package import Archives
internal import Files

/// A file in an increment that helps to restore without this program.
package struct IncrementHelper {
    package var attributes: EntryAttributes
    package var text: String

    private init(_ path: RelativePath, _ text: String) {
        attributes = EntryAttributes(path: path, kind: .file, mode: 0o644, modified: 0)
        self.text = text
    }

    /// Returns the text and the script for an increment that is built on archives of the given names, in this order.
    package static func all(needs: [String]) -> [IncrementHelper] {
        let isEncrypted = needs.contains(where: BackupName.isEncrypted)
        let names = needs.map {
            BackupName.isEncrypted($0)
                ? String($0.dropLast(BackupName.encryptedEnding.count)) : $0
        }
        let first = names.first ?? ""
        let later = (names.dropFirst() + ["this archive"]).map { "    \($0)\n" }.joined()
        let page = """
            This archive holds only what is different from other backups. To restore it without grocerydude,
            unpack these into one empty directory, DIR, in this order:

                \(first)
            \(later)
            The first one with

                unzip 'NAME' -d DIR

            and each other one with

                unzip -o 'NAME' -d DIR && python3 DIR/.grocerydude/apply.py

            Then remove DIR/.grocerydude.

            Names with control characters, or that are not UTF-8, need unzip -^ in place of unzip, in a UTF-8
            locale: without it unzip leaves such letters out. bsdtar -xf 'NAME' -C DIR keeps them too.\(isEncrypted ? decrypting : "")

            """
        return [.init(Manifest.readme, page), .init(Manifest.script, script)]
    }

    /// The paragraph at the beginning if the archives are encrypted.
    private static let decrypting = """


        Each of them is encrypted. Decrypt it first, with

            age -d -i KEYFILE 'NAME.age' > 'NAME'
        """

    /// The script that applies an increment to a directory over which it was unpacked.
    private static let script = #"""
        # Applies the increment that was just unpacked over a directory; see README.txt beside it.
        from base64 import b64decode
        from hashlib import sha256
        from json import loads
        from os import chmod, path, remove, utime
        from shutil import rmtree
        from struct import unpack
        from sys import argv, exit
        top = path.dirname(path.dirname(path.abspath(argv[0]))).encode()
        at = lambda *names: path.join(top, *names)
        manifest = loads(open(at(b".grocerydude/manifest.json"), "rb").read())
        applied, last = at(b".grocerydude/applied"), [need["state"] for need in manifest["needs"]][1:][-1:]
        if (open(applied).read().split() if path.exists(applied) else []) != last:
            exit("unpack what README.txt names, in its order, into an empty directory")
        for record in manifest["files"]:
            name = record["path"].encode() if "path" in record else b64decode(record["path_base64"])
            if record["type"] != "removed" and not path.lexists(at(name)):
                exit(f"{name} is missing: if its name has other letters than that, unpack all again with unzip -^; see README.txt")
            if record["type"] == "removed":
                if path.isdir(at(name)) and not path.islink(at(name)): rmtree(at(name))
                elif path.lexists(at(name)): remove(at(name))
            if "patch" in record:
                chmod(at(name), 0o600)
            if record.get("patch", {}).get("size"):
                with open(at(name), "r+b") as file, open(at(b".grocerydude/patch", name), "rb") as patch:
                    while head := patch.read(12):
                        offset, length = unpack("<QI", head)
                        file.seek(offset)
                        file.write(patch.read(length))
            if "patch" in record:
                with open(at(name), "r+b") as file:
                    file.truncate(record["size"])
                    for index, digest in record["changed"]:
                        file.seek(index << 20)
                        if sha256(file.read(1 << 20)).hexdigest() != digest: exit(f"{name}: damaged")
                chmod(at(name), int(record["mode"], 8))
                utime(at(name), ns=(record["modified"], record["modified"]))
        rmtree(at(b".grocerydude/patch"), ignore_errors=True)
        open(applied, "w").write(manifest["state"])

        """#
}
