/// Secret keys to print on paper.
struct KeyPrintAnswer: Answer {
    struct Key: Encodable {
        var recipient: String
        var secret: String
        /// The lines of a QR code of the secret, for people.
        var code: [String] = []

        private enum CodingKeys: CodingKey { case recipient, secret }
    }

    var keys: [Key]

    func write(to console: Console) {
        console.answer("SECRET KEYS OF ENCRYPTED BACKUPS (https://age-encryption.org)")
        for key in keys {
            console.answer("")
            console.answer("Public key:  \(key.recipient)")
            console.answer("Secret key. Type it in one line, and leave out the spaces:")
            for line in Self.groups(of: key.secret) { console.answer("    \(line)") }
            console.answer(lines: key.code)
        }
        console.answer("")
        console.answer("To restore: write the secret key into a file key.txt, then")
        console.answer("    age -d -i key.txt 'NAME Stores.zip.age' > backup.zip")
        console.answer("    unzip backup.zip -x '.grocerydude/*' -d Restored")
    }

    /// Returns the lines of a key in groups of six letters, which are easier to type; the last one has the rest too.
    private static func groups(of text: String) -> [String] {
        var (groups, rest) = ([String](), text[...])
        while !rest.isEmpty {
            let group = rest.prefix(rest.count < 12 ? rest.count : 6)
            groups.append(String(group))
            rest = rest.dropFirst(group.count)
        }
        return stride(from: 0, to: groups.count, by: 7).map {
            groups[$0..<min($0 + 7, groups.count)].joined(separator: " ")
        }
    }
}
