internal import ArgumentParser
internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import History
internal import SystemPackage

/// One run of a command: the settings in force, and what its operations are given.
struct Invocation {
    /// Each thread costs some 4 MiB of buffers; one reader would not keep more of them busy.
    private static let threadsLimit = 16

    let console: Console
    let output: OutputOptions
    /// All settings in force.
    let profile: Profile
    let context: OperationContext
    let memory: BackupMemory
    /// The log of runs and checks.
    let log: RunLog
    /// When the command began; the program's only look at the clock.
    let now = Date()
    let timeZone = TimeZone.current
    /// The program and its version, as manifests name it.
    let tool = "grocerydude \(GroceryDude.version)"

    init(_ profile: Profile, _ output: OutputOptions, _ console: Console) {
        self.console = console
        self.output = output
        self.profile = profile
        context = OperationContext(
            report: { console.show($0) },
            checkCancellation: Interruption.check,
            threads: min(max(1, ProcessInfo.processInfo.activeProcessorCount), Self.threadsLimit),
            lockWait: profile.lockWait,
            scratch: FilePath(NSTemporaryDirectory())
        )
        log = RunLog(FilePath(ProcessEnvironment.state + "/grocerydude/log.sqlite"))
        memory = BackupMemory(
            catalog: BackupCatalog(
                FilePath(ProcessEnvironment.cache + "/grocerydude/catalog.json"),
                at: now,
                keys: KeyRing(profile.keys, console).keys
            ),
            log: log
        )
    }

    var stores: FilePath { profile.stores }

    /// The file system, which tells its steps if they are wanted.
    var fileSystem: any FileSystem {
        guard output.level >= .verbose else { return LocalFileSystem() }
        return TellingFileSystem { [context, output] text, weight in
            if weight == .step || output.level == .debug { context.report(.note(text)) }
        }
    }

    /// Returns the backup folder; throws `FileError` if the built-in one, or a staging directory, is
    /// missing and cannot be made.
    func folder() throws -> BackupFolder {
        if profile.origin(of: "remote") == .default {
            try LocalFileSystem().createDirectories(FilePath(address))
        }
        return try folder(at: address)
    }

    /// Returns the backup folder of an address; throws `FileError` if a staging directory is missing and
    /// cannot be made.
    func folder(at text: String) throws -> BackupFolder {
        let address = address(text)
        var folder: BackupFolder
        if address.hasPrefix(RcloneFolder.scheme) {
            let remote = String(address.dropFirst(RcloneFolder.scheme.count))
            let digest = Self.shortDigest(of: remote)
            let staging = ProcessEnvironment.cache + "/grocerydude/rclone-\(digest)"
            try LocalFileSystem().createDirectories(FilePath(staging))
            folder = try BackupFolder(
                RcloneFolder(remote, through: rclone),
                staging: FilePath(staging),
                workplace: workplace(digest),
                memory: memory,
                timeZone: timeZone
            )
        } else {
            let local = LocalFolder(FilePath(address), fileSystem: fileSystem)
            folder = BackupFolder(local, memory: memory, timeZone: timeZone)
        }
        folder.outbox = Outbox(
            FilePath(Self.outboxes).appending(Self.shortDigest(of: address)),
            limit: profile.queueLimit,
            memory: memory,
            timeZone: timeZone
        )
        return folder
    }

    /// The directory of what waits for each remote folder.
    private static var outboxes: String { ProcessEnvironment.state + "/grocerydude/outbox" }

    /// Returns a name for a directory of this machine that belongs to a remote folder.
    static func shortDigest(of text: String) -> String {
        let digest = Array(text.utf8).withUnsafeBytes { Digest(of: $0) }
        return String(digest.description.prefix(16))
    }

    /// Returns the directory for archives of a folder that is elsewhere, unless it is the usual one.
    ///
    /// - Throws: `FileError` if the directory that it is in is missing: its disk may not be mounted.
    private func workplace(_ digest: String) throws -> FilePath? {
        guard let staging = profile.staging else { return nil }
        let path = absolute(staging).appending("grocerydude-\(digest)")
        if try FileInfo.ifPresent(path) == nil { try LocalFileSystem().createDirectory(path) }
        return path
    }

    /// The remote folder's address; catalog and log remember folders by it, so that it must not
    /// depend on the working directory.
    var address: String { address(profile.remote) }

    /// Returns the address in the form that does not depend on the working directory.
    func address(_ address: String) -> String {
        address.hasPrefix(RcloneFolder.scheme) ? address : absolute(FilePath(address)).string
    }

    /// Whether this is the stores directory of the configuration, if that names one: the profile's
    /// commands are about the application there.
    var isWithProfilesStores: Bool {
        profile.configuredStores.map { absolute($0) == absolute(stores) } ?? true
    }

    /// Whether these are the places of the configuration, if that names any: the profile's monitor and
    /// retention are about the backups of one in the other.
    var isInProfilesPlaces: Bool {
        isWithProfilesStores && profile.configuredRemote.map { address($0) == address } ?? true
    }

    /// Returns a path that means the same from everywhere, whether something is there or not.
    func absolute(_ path: FilePath) -> FilePath {
        let path = FilePath(FileManager.default.currentDirectoryPath).pushing(path)
        return (try? path.resolved()) ?? path.lexicallyNormalized()
    }

    /// Returns a moment in the form that answers use.
    func local(_ date: Date) -> LocalTime { LocalTime(date, in: timeZone) }

    /// Answers after a command has done its work, and returns its result.
    func answer(_ answer: some Answer, problems: [Problem] = []) throws -> CommandResult {
        try console.answer(answer)
        return CommandResult(problems: problems)
    }

    /// Returns whether to replace or delete something; throws `CommandError` if nobody can be asked.
    func confirm(_ question: String, yes: Bool) throws -> Bool {
        if yes { return true }
        guard console.canAsk else { throw CommandError.noTerminal }
        let isAgreed = console.ask(question)
        try Interruption.check()
        if !isAgreed { console.message("nothing was changed") }
        return isAgreed
    }
}
