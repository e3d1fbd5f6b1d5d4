internal import Age
internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import Synchronization
internal import SystemPackage

/// A reader of the keys from the settings and the environment, which asks for a password if necessary.
struct KeyRing: Sendable {
    /// The maximum size in bytes of a file with keys or a password.
    static let limit: Int64 = 1 << 20
    /// The variable with the password itself.
    static let passwordVariable = "GROCERYDUDE_PASSWORD"

    let settings: KeySettings
    let console: Console
    private let agreed = Agreed()

    /// The most memory that the user has allowed for a password.
    private final class Agreed: Sendable {
        let memory = Mutex<Int64>(0)
    }

    init(_ settings: KeySettings, _ console: Console) {
        self.settings = settings
        self.console = console
    }

    /// The file of secret keys that is used if none is named.
    static var usualPath: FilePath {
        FilePath(ProcessEnvironment.configuration + "/grocerydude/identity.txt")
    }

    /// Returns the keys of a run that begins now.
    func keys(at now: Date) -> BackupKeys {
        BackupKeys(
            encrypts: !settings.recipients.isEmpty,
            recipients: recipients,
            identities: identities,
            passphrase: passphrase,
            signers: signers(at: now)
        )
    }

    /// Reads the recipients of new backups; returns none if a password encrypts them.
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
            let found = try Recipient.list(in: Self.text(bytes, of: FilePath(text)))
            guard !found.isEmpty else { throw KeyError.noRecipients(FilePath(text)) }
            return found
        }
        return recipients
    }

    /// Reads the secret keys.
    @Sendable
    func identities() throws -> [Identity] { try identities { try passphrase(isNew: false) } }

    private func identities(_ passphrase: () throws -> Passphrase?) throws -> [Identity] {
        var paths = settings.identities
        if paths.isEmpty, try FileInfo.ifPresent(Self.usualPath) != nil { paths = [Self.usualPath] }
        return try paths.flatMap { path in
            warnIfReadable("the secret key", path)
            do {
                let bytes = try Self.unmarked(Self.secret(path), of: "'\(printable(path))'")
                return try IdentityFile.identities(in: bytes, path: path, passphrase: passphrase)
            } catch let error as AgeError where !error.isOfKeys {
                throw KeyError.badFile(path, error)
            }
        }
    }

    /// Returns the password from the environment, a file or a command's output, or asks for it on a terminal.
    @Sendable
    func passphrase(isNew: Bool) throws -> Passphrase? {
        if let text = ProcessEnvironment.value(Self.passwordVariable) {
            return made(Array(text.utf8))
        }
        if let passphrase = try settingsPassphrase() { return passphrase }
        guard console.canAsk else { return isNew ? try missing() : nil }
        guard let passphrase = try console.secret("Password").flatMap({ made($0) }) else {
            return isNew ? try missing() : nil
        }
        if isNew {
            guard let again = try console.secret("Again").flatMap({ Passphrase($0) }),
                again.isSame(as: passphrase)
            else { throw KeyError.passwordsDiffer }
        }
        return passphrase
    }

    /// Returns the password from the file or the command of the settings; `nil` if they have neither.
    private func settingsPassphrase() throws -> Passphrase? {
        if let path = settings.passwordFile {
            warnIfReadable("the password in", path)
            return try firstLine(Self.secret(path), of: "'\(printable(path))'")
        }
        return try settings.passwordCommand.map {
            try firstLine(Self.output(of: $0), of: "'\($0)'")
        }
    }

    /// Checks that the keys and the password of the settings can be read, and asks for nothing.
    ///
    /// The environment's password does not count: a schedule has another environment.
    ///
    /// - Throws: `KeyError`, `AgeError`, `FileError`.
    func check() throws {
        let recipients = try recipients()
        if !recipients.isEmpty { try Recipient.check(recipients) }
        if settings.signingKey != nil { _ = try ownKeys() }
        let passphrase = try settingsPassphrase()
        do {
            _ = try identities { passphrase }
        } catch AgeError.needsPassphrase where passphrase == nil {
            // A person types it.
        }
    }

    private func warnIfReadable(_ what: String, _ path: FilePath) {
        guard let info = try? FileInfo(of: path.resolved()), info.kind == .file,
            info.mode & 0o077 != 0
        else { return }
        let name = printable(path)
        console.warn("\(what) '\(name)' can be read by others: chmod 600 \(shellWord(path))")
    }

    private func missing() throws -> Passphrase? { throw KeyError.noPassword }

    /// Returns the content of a file of secret keys or with the password.
    ///
    /// - Throws: `KeyError.unreadable`.
    private static func secret(_ path: FilePath) throws -> [UInt8] {
        do {
            return try File.contents(of: path, limit: limit)
        } catch let error as FileError {
            throw KeyError.unreadable(error)
        }
    }

    /// Returns the bytes of a text without the mark of its encoding, with which editors may begin it.
    ///
    /// - Throws: `KeyError.wideText` for UTF-16.
    private static func unmarked(_ bytes: [UInt8], of place: String) throws -> [UInt8] {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw KeyError.wideText(place)
        }
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Returns the text of a file of keys; see `unmarked`.
    static func text(_ bytes: [UInt8], of path: FilePath) throws -> String {
        String(decoding: try unmarked(bytes, of: "'\(printable(path))'"), as: UTF8.self)
    }

    /// Returns the text before the first line break as a passphrase.
    private func firstLine(_ bytes: [UInt8], of place: String) throws -> Passphrase {
        let text = try Self.unmarked(bytes, of: place)
        var line = text.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let passphrase = made(line) else { throw KeyError.emptyPassword(place) }
        return passphrase
    }

    /// Creates a passphrase that asks the user before a file takes more than the usual work.
    private func made(_ secret: some Collection<UInt8>) -> Passphrase? {
        Passphrase(secret) { [console, agreed] path, memory in
            try agreed.memory.withLock { agreed in
                if agreed >= memory { return true }
                guard console.canAsk else { return false }
                let isAgreed = console.ask(
                    "Trying a password on '\(printable(path))' takes \(byteCount(memory)) of memory, and as much work. Go on?"
                )
                try Interruption.check()
                if isAgreed { agreed = memory }
                return isAgreed
            }
        }
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
        // The command may have closed its output and still run.
        while process.isRunning {
            try Interruption.check()
            Thread.sleep(forTimeInterval: 0.001)
        }
        guard process.terminationStatus == 0 else {
            throw KeyError.passwordCommand(command, "it exited with \(process.terminationStatus)")
        }
        return output
    }

    /// Reads until the writing end is closed.
    ///
    /// - Throws: `CancellationError` if a signal asks to stop.
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
