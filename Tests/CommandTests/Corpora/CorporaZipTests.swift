import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Zips of other archivers' tests",
    .enabled(if: Corpora.isThere, "there is no test data beside the checkout")
)
struct CorporaZipTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        for name in ["Remote", "Home", "Temporary", "Restored"] { try sandbox.directory(name) }
        try sandbox.write("untouched", to: "Work/canary")
        try sandbox.write("mine", to: "Work/Stores/file")
    }

    /// Restores with at most 1 GiB of address space, 256 MiB in any file, and a minute.
    private func restore(_ name: String) throws -> Tool.Outcome {
        try Tool.run(
            "/bin/sh",
            [
                "-c", "ulimit -v 1048576 && ulimit -f 524288 && exec \"$@\"", "sh",
                Tool.product("grocerydude"), "restore", name, "--yes", "--no-safety-backup",
                "--stores", sandbox.path("Work/Stores").string,
                "--remote", sandbox.path("Remote").string,
            ],
            environment: [
                "HOME": sandbox.path("Home").string, "TZ": "UTC", "XDG_CACHE_HOME": "",
                "TMPDIR": sandbox.path("Temporary").string,
            ],
            timeout: .seconds(60)
        )
    }

    /// Why, without what differs from run to run.
    private func reason(_ outcome: Tool.Outcome) -> String {
        let line = outcome.errors.split(separator: "\n").first { $0.contains("error: ") } ?? ""
        let start = line.range(of: "as it was: ")?.upperBound ?? line.startIndex
        return line[start...].replacingOccurrences(of: " in 'a Stores.zip'", with: "")
            .replacingOccurrences(of: "'a Stores.zip' ", with: "")
    }

    @Test(
        "Each zip is restored as Python reads it or refused, as the table says"
    )
    func everyZip() throws {
        let zips = try Corpora.files(in: "zip") { $0.hasSuffix(".zip") }
        let fileSystem = LocalFileSystem()
        var verdicts = Verdicts("zip")
        var restored: [(zip: FilePath, number: Int)] = []
        let before = try sandbox.contents(of: "Work")
        for (number, zip) in Verdicts.sample(of: zips).enumerated() {
            let size = try FileInfo(of: zip).size
            try sandbox.write(
                File.open(zip).readExactly(count: Int(size), at: 0),
                to: "Remote/a Stores.zip"
            )
            // Damage that was noted of the last zip would count for one that cannot be read.
            for place in ["Remote/.grocerydude-notes", "Home/.local"] {
                try fileSystem.remove(sandbox.path(place))
            }
            let outcome = try restore("a Stores.zip")
            verdicts.note(zip, "\(outcome.status)\t\(outcome.status == 0 ? "" : reason(outcome))")
            if outcome.status == 0 {
                restored.append((zip, number))
                let place = sandbox.path("Restored/\(number)")
                try fileSystem.move(sandbox.path("Work/Stores"), to: place)
                try sandbox.write("mine", to: "Work/Stores/file")
            } else {
                #expect(outcome.errors.contains("your data is as it was"), "\(zip)")
                #expect(outcome.errors.contains("hint: "), "\(zip)")
            }
            func paths(_ contents: Contents) -> [String] { contents.items.map(\.path.description) }
            #expect(try paths(sandbox.contents(of: "Work")) == paths(before), "\(zip)")
            #expect(try sandbox.read("Work/Stores/file") == Array("mine".utf8), "\(zip)")
            #expect(try sandbox.read("Work/canary") == Array("untouched".utf8), "\(zip)")
            #expect(try Directory.open(sandbox.path("Temporary")).names() == [], "\(zip)")
            #expect(try Directory.open(sandbox.path).names().count == 5, "\(zip)")
        }
        try verdicts.compare()
        try compareWithPython(restored)
    }

    /// Reads each zip with Python, and compares that with what was restored.
    private func compareWithPython(_ restored: [(zip: FilePath, number: Int)]) throws {
        guard Tool.isInstalled("python3") else { return print("skipped: python3 is not installed") }
        let script = """
            import os, struct, sys, zipfile, zlib
            os.chdir(sys.argv[1])
            def unicode_path(name, extra):
                # APPNOTE 4.6.9, which Python passes over.
                while len(extra) >= 4:
                    kind, size = struct.unpack('<HH', extra[:4])
                    data, extra = extra[4:4 + size], extra[4 + size:]
                    if kind == 0x7075 and data[:5] == struct.pack('<BL', 1, zlib.crc32(name)): return data[5:]
                return name
            good = 0
            for zip, number in zip(sys.argv[2::2], sys.argv[3::2]):
                expected = {}
                try:
                    with zipfile.ZipFile(zip) as archive:
                        for info in archive.infolist():
                            name = info.orig_filename.encode('utf-8' if info.flag_bits & 0x800 else 'cp437')
                            if not info.flag_bits & 0x800: name = unicode_path(name, info.extra)
                            if info.create_system not in (3, 19): name = name.replace(b'\\\\', b'/')
                            while name.startswith(b'./'): name = name[2:]
                            if not name.endswith(b'/') and name: expected[name] = archive.read(info)
                except (zipfile.BadZipFile, NotImplementedError, UnicodeError) as error:
                    print('Python does not read', os.path.basename(zip), error)
                    continue
                found = {}
                top = number.encode()
                for folder, folders, files in os.walk(top):
                    for name in files + folders:
                        path = os.path.join(folder, name)
                        short = os.path.relpath(path, top)
                        if os.path.islink(path): found[short] = os.readlink(path)
                        elif os.path.isfile(path): found[short] = open(path, 'rb').read()
                if found != expected: sys.exit(f'{zip}: {sorted(found)} {sorted(expected)}')
                good += 1
            print(good, 'as Python reads them')
            """
        let arguments = restored.flatMap { [$0.zip.string, "\($0.number)"] }
        print(
            try Tool.check(
                "python3",
                ["-c", script, sandbox.path("Restored").string] + arguments
            )
        )
    }
}
