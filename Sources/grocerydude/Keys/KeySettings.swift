internal import Age
internal import SystemPackage

/// The settings of encryption.
struct KeySettings: Equatable, Sendable {
    /// The word that stands for a password among the recipients.
    static let passwordWord = "password"

    /// The public keys that backups are encrypted for, and files of them; or the word for a password.
    ///
    /// If there are none, backups are not encrypted.
    var recipients: [String] = []
    /// The files of secret keys.
    var identities: [FilePath] = []
    var passwordFile: FilePath?
    /// A command for the shell that writes the password.
    var passwordCommand: String?

    /// Returns whether a recipient is meant as it is written, and not as the name of a file.
    static func isLiteral(_ text: String) -> Bool {
        text == passwordWord || text.hasPrefix("age1") || text.hasPrefix("ssh-")
    }
}

extension WrittenValue {
    /// Returns public keys, files of them, or the word for a password.
    ///
    /// - Throws: `WrongValue`, without the value if that is a secret.
    func recipients() throws -> [String] {
        let wanted = "public keys, files of them, or '\(KeySettings.passwordWord)'"
        return try lines(wanted).map { value in
            let text = try value.text(wanted) { $0 }
            do {
                if KeySettings.isLiteral(text), text != KeySettings.passwordWord {
                    _ = try Recipient(text)
                }
                // A secret that is taken for the name of a file would be shown in a message.
                if text.uppercased().hasPrefix("AGE-") { _ = try Recipient(text) }
            } catch let error as AgeError {
                throw WrongValue(reason: "must be \(wanted): \(error)", hint: error.hint)
            }
            return KeySettings.isLiteral(text) ? text : try value.path(wanted)
        }
    }

    /// Returns the names of files.
    ///
    /// - Throws: `WrongValue`.
    func paths() throws -> [FilePath] {
        try lines("a path or a list of paths").map { FilePath(try $0.path()) }
    }

    /// Returns each of the texts as a value; on the command line and in the environment, each line is one.
    private func lines(_ wanted: String) throws -> [WrittenValue] {
        let texts = try texts(wanted)
        let isSaid = base == nil
        return texts.flatMap { isSaid ? $0.split(separator: "\n").map(String.init) : [$0] }.map {
            var value = self
            value.form = .text($0)
            return value
        }
    }
}
