internal import Age
internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import SystemPackage

/// Reads the keys that the settings and the environment name, and asks for a password if need be.
struct KeyRing: Sendable {
    /// Bytes of a file with keys or a password at most.
    private static let limit: Int64 = 1 << 20
    /// The variable with the password itself.
    static let passwordVariable = "GROCERYDUDE_PASSWORD"

    private let settings: KeySettings
    private let console: Console

    init(_ settings: KeySettings, _ console: Console) {
        self.settings = settings
        self.console = console
    }

    /// The file of secret keys that is read if none is named.
    static var usualPath: FilePath {
        FilePath(ProcessEnvironment.configuration + "/grocerydude/identity.txt")
    }

    /// The keys of a run.
    var keys: BackupKeys {
        BackupKeys(
            encrypts: !settings.recipients.isEmpty,
            recipients: recipients,
            identities: identities,
            passphrase: passphrase
        )
    }

    /// Reads those who may read new backups; none for whoever knows the password.
    @Sendable
    func recipients() throws -> [Recipient] {
        let isOfPassword = settings.recipients.contains(KeySettings.passwordWord)
        guard !isOfPassword || settings.recipients.count == 1 else {
            throw AgeError.badRecipients(reason: "a password has to be the only recipient")
        }
        if isOfPassword { return [] }
        let recipients = try settings.recipients.flatMap { text in
            if KeySettings.isLiteral(text) { return [try Recipient(text)] }
            let bytes = try File.contents(of: FilePath(text), limit: Self.limit)
            let found = try Recipient.list(in: String(decoding: bytes, as: UTF8.self))
            guard !found.isEmpty else { throw KeyError.noRecipients(FilePath(text)) }
            return found
        }
        return recipients
    }

    /// Reads the secret keys.
    @Sendable
    func identities() throws -> [Identity] {
        var paths = settings.identities
        if paths.isEmpty, try FileInfo.ifPresent(Self.usualPath) != nil { paths = [Self.usualPath] }
        return try paths.flatMap { path in
            if let mode = try FileInfo.ifPresent(path)?.mode, mode & 0o077 != 0 {
                console.show(
                    .warning(
                        "the secret key '\(printable(path))' can be read by others: chmod 600 '\(printable(path))'"
                    )
                )
            }
            do {
                let bytes = try File.contents(of: path, limit: Self.limit)
                return try IdentityFile.identities(in: bytes, path: path) {
                    try passphrase(isNew: false)
                }
            } catch let error as AgeError where !error.isOfKeys {
                throw KeyError.badFile(path, error)
            }
        }
    }

    /// Looks for a password: in the environment, a file, a command's output; then asks on a terminal.
    @Sendable
    func passphrase(isNew: Bool) throws -> Passphrase? {
        if let text = ProcessEnvironment.value(Self.passwordVariable) {
            return Passphrase(Array(text.utf8))
        }
        if let path = settings.passwordFile {
            let bytes = try File.contents(of: path, limit: Self.limit)
            guard let passphrase = Self.firstLine(bytes) else {
                throw KeyError.emptyPassword("'\(printable(path))'")
            }
            return passphrase
        }
        if let command = settings.passwordCommand {
            guard let passphrase = Self.firstLine(try Self.output(of: command)) else {
                throw KeyError.emptyPassword("'\(command)'")
            }
            return passphrase
        }
        guard console.canAsk else { return isNew ? try missing() : nil }
        guard let passphrase = try console.secret("Password").flatMap({ Passphrase($0) }) else {
            return isNew ? try missing() : nil
        }
        if isNew {
            guard let again = try console.secret("Again").flatMap({ Passphrase($0) }),
                again.isSame(as: passphrase)
            else { throw KeyError.passwordsDiffer }
        }
        return passphrase
    }

    private func missing() throws -> Passphrase? { throw KeyError.noPassword }

    /// Returns what is before the first line break.
    private static func firstLine(_ bytes: [UInt8]) -> Passphrase? {
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return Passphrase(line)
    }

    private static func output(of command: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        let pipe = Pipe()
        process.standardOutput = pipe
        do {
            try process.run()
        } catch {
            throw KeyError.passwordCommand(command, "\(error.localizedDescription)")
        }
        defer { if process.isRunning { process.terminate() } }
        let output = try readToEnd(pipe.fileHandleForReading)
        // It may have closed its output, and go on.
        while process.isRunning {
            try Interruption.check()
            Thread.sleep(forTimeInterval: 0.001)
        }
        guard process.terminationStatus == 0 else {
            throw KeyError.passwordCommand(command, "it exited with \(process.terminationStatus)")
        }
        return output
    }

    /// Reads until nobody writes any more.
    ///
    /// - Throws: `CancellationError` once a signal asks to stop.
    private static func readToEnd(_ handle: FileHandle) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            _ = Interruption.waitForInput(on: handle.fileDescriptor)
            try Interruption.check()
            let part = handle.availableData
            if part.isEmpty { return bytes }
            bytes += part
        }
    }
}
