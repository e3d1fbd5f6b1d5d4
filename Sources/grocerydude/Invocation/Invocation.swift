internal import Age
internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import Stores
internal import History
internal import SystemPackage

/// One run of a command: the settings in force, and the inputs of its operations.
struct Invocation {
    /// The program's version, according to semantic versioning.
    static let version = "0.1.0"
    /// The answer to `--version`: the version, the commit if the build said it, and the libraries in use.
    static var versionText: String {
        let commit = Build.commit.map { " (\($0))" } ?? ""
        let libraries = ["SQLite \(SQLiteLibrary.version)"] + ArchiveLibraries.versions
        return "grocerydude \(version)\(commit)\n\(libraries.joined(separator: ", "))"
    }
    /// The number of threads for a command.
    ///
    /// Each takes about 4 MiB of buffers, and one reader cannot keep more than 16 of them busy.
    static var threads: Int {
        min(max(1, ProcessInfo.processInfo.activeProcessorCount), 16)
    }

    let console: Console
    /// All settings in force.
    let profile: Profile
    /// Whether the run leaves everything as it is, even caches and the log.
    let changesNothing: Bool
    let context: OperationContext
    let memory: BackupMemory
    /// The log of runs and checks.
    let log: RunLog
    /// The time when the command began; the only reading of the clock.
    let now = Date()
    let timeZone = LocalZone.current
    /// The program and its version in the form for manifests.
    let tool = "grocerydude \(version)"

    init(
        _ profile: Profile,
        _ console: Console,
        changesNothing: Bool = false
    ) {
        self.console = console
        self.profile = profile
        self.changesNothing = changesNothing
        var context = OperationContext(
            report: { console.show($0) },
            checkCancellation: Interruption.check,
            threads: Self.threads,
            lockWait: profile.lockWait,
            scratch: ProcessEnvironment.scratch
        )
        context.reportsDetails = console.style.level >= .verbose
        context.locks = FilePath(ProcessEnvironment.state + "/grocerydude/locks")
        context.ownDirectories = ProcessEnvironment.ownDirectories
        if let staging = profile.staging { context.ownDirectories.append(("staging", staging)) }
        self.context = context
        log = RunLog(FilePath(ProcessEnvironment.state + "/grocerydude/log.sqlite"))
        var memory = BackupMemory(
            catalog: BackupCatalog(
                FilePath(ProcessEnvironment.cache + "/grocerydude/catalog.json"),
                at: now,
                keys: KeyRing(profile.keys, console).keys(at: now)
            ),
            log: changesNothing ? nil : log
        )
        memory.checkCancellation = Interruption.check
        self.memory = memory
    }

    var stores: FilePath { profile.stores }

    /// The file system, which reports its steps in verbose mode.
    var fileSystem: any FileSystem {
        guard console.style.level >= .verbose else { return LocalFileSystem() }
        return ReportingFileSystem { [context, console] text, weight in
            if weight == .step || console.style.level == .debug { context.note(text) }
        }
    }

    /// rclone with the profile's time limits; its events are shown on the console.
    var rclone: Rclone {
        var rclone = namelessRclone
        rclone.machine = MachineSecret.kept
        return rclone
    }

    /// rclone without this machine's secret, so that the secret need not be created.
    var namelessRclone: Rclone {
        var rclone = Rclone()
        rclone.connectTimeout = profile.remoteConnectTimeout
        rclone.idleTimeout = profile.remoteIdleTimeout
        rclone.bandwidth = profile.remoteBandwidth
        let report = context.report
        rclone.report = { report(OperationEvent($0)) }
        rclone.checkCancellation = context.checkCancellation
        return rclone
    }

    /// Returns the backup folder; throws `FileError` if the default one, or a staging directory, cannot be created.
    func folder() throws -> BackupFolder {
        if profile.origin(of: "remote") == .default, !changesNothing {
            try LocalFileSystem().createDirectories(FilePath(place))
        }
        return try folder(at: place)
    }

    /// Returns the backup folder at an address; throws `FileError` if a staging directory cannot be created.
    func folder(at text: String) throws -> BackupFolder {
        let place = RemoteAddress(self.place(text))
        let remote = place.folder(
            through: changesNothing ? namelessRclone : rclone,
            fileSystem: fileSystem
        )
        var (staging, workplace) = (remote.directory, FilePath?.none)
        if staging == nil {
            if !changesNothing { try context.refuseOwnDirectories(in: stores) }
            // The digest excludes passwords, which may change.
            let digest = Self.shortDigest(of: RemoteAddress(place.shown).place)
            staging = FilePath(ProcessEnvironment.cache + "/grocerydude/rclone-\(digest)")
            if !changesNothing { try staging.map { try LocalFileSystem().createDirectories($0) } }
            workplace = try self.workplace(digest)
        }
        var folder = BackupFolder(
            remote,
            staging: staging ?? FilePath(place.text),
            workplace: workplace,
            memory: memory,
            timeZone: timeZone
        )
        folder.keepsCopies = !changesNothing
        folder.origin = origin
        folder.outbox = Outbox(
            FilePath(ProcessEnvironment.state + "/grocerydude/outbox")
                .appending(Self.shortDigest(of: place.shown)),
            limit: profile.queueLimit,
            memory: memory,
            timeZone: timeZone
        )
        return folder
    }

    /// The keys of the settings.
    var keyRing: KeyRing { KeyRing(profile.keys, console) }

    /// The machine and stores directory whose backups this run makes and evaluates.
    var origin: Backups.Origin { Backups.Origin(of: absolute(stores), named: profile.originName) }

    /// Returns a name for a local directory that belongs to a remote folder.
    static func shortDigest(of text: String) -> String {
        let digest = Array(text.utf8).withUnsafeBytes { Digest(of: $0) }
        return String(digest.description.prefix(16))
    }

    /// Returns the directory for a remote folder's archives; `nil` for the default one.
    ///
    /// - Throws: `FileError` if its parent directory is missing, since its disk may not be mounted.
    private func workplace(_ digest: String) throws -> FilePath? {
        guard let staging = profile.staging else { return nil }
        let path = absolute(staging).appending("grocerydude-\(digest)")
        if try FileInfo.ifPresent(path) == nil, !changesNothing {
            try LocalFileSystem().createDirectory(path)
        }
        return path
    }

    /// The remote folder's address as shown.
    ///
    /// The catalog and the log use it as a key, so it does not depend on the working directory.
    var address: String { address(profile.remote) }

    /// Returns an address as shown: without secrets, and independent of the working directory.
    func address(_ text: String) -> String { RemoteAddress(place(text)).shown }

    /// The remote folder's address as used, which may contain secrets.
    var place: String { place(profile.remote) }

    /// Returns an address as used, independent of the working directory.
    func place(_ text: String) -> String {
        RemoteAddress(text).absolute(absolute).text
    }

    /// Whether the stores directory is the configured one, if there is one.
    ///
    /// The profile's commands concern the application there.
    var isWithProfilesStores: Bool {
        profile.configuredStores.map { absolute($0) == absolute(stores) } ?? true
    }

    /// Whether both places are the configured ones, if there are any.
    ///
    /// The profile's monitor and retention concern only these places.
    var isInProfilesPlaces: Bool {
        isWithProfilesStores && profile.configuredRemote.map { place($0) == place } ?? true
    }

    /// Returns an absolute path, resolved if it exists.
    func absolute(_ path: FilePath) -> FilePath {
        let path = FilePath(FileManager.default.currentDirectoryPath).pushing(path)
        return (try? path.resolved()) ?? path.lexicallyNormalized()
    }

    /// Returns a path of a backup as it is named there: an absolute one must be in the stores directory.
    ///
    /// - Throws: `UsageError` for one that is elsewhere.
    func inStores(_ name: String) throws -> String {
        guard name.hasPrefix("/") else { return name }
        let directories = [absolute(stores), stores.lexicallyNormalized()]
        let path = FilePath(name).lexicallyNormalized()
        // A link is an entry itself, and what was lost has no place any more.
        var above = path.removingLastComponent()
        while (try? above.resolved()) == nil, above.removeLastComponent() {}
        let rest = path.components.dropFirst(above.components.count)
        for path in [path, try above.resolved().appending(rest)] {
            for directory in directories where path.starts(with: directory) {
                let below = path.components.dropFirst(directory.components.count)
                return below.isEmpty ? "." : FilePath(root: nil, below).string
            }
        }
        throw UsageError(
            "'\(name)' is not in the stores directory '\(directories[0])'",
            hint: "name a path below that directory, as 'grocerydude show latest --tree' lists them"
        )
    }

    /// Returns a moment in the form that answers use.
    func local(_ date: Date) -> LocalTime { LocalTime(date, in: timeZone) }

    /// Whether this machine has no key and trusts no other's, so that all backups count alike.
    var knowsNobody: Bool { (try? memory.catalog.knowsNobody) ?? false }

    /// Prints an answer after a command's work, and returns its result.
    func answer(_ answer: some Answer, problems: [Problem] = []) throws -> CommandResult {
        try console.answer(answer)
        return CommandResult(problems: problems)
    }

    /// Reports in one line what was done.
    ///
    /// - Parameters:
    ///   - line: the answer as text.
    ///   - facts: the answer as JSON.
    ///   - isDryRun: whether nothing was done, and only the line reports what would be.
    ///   - problems: the problems of the run; with any, it was done in part.
    /// - Returns: the result of the run.
    /// - Throws: errors of the encoding.
    func done(
        _ line: String,
        _ facts: JSONObject,
        isDryRun: Bool = false,
        problems: [Problem] = []
    ) throws -> CommandResult {
        try answer(DoneAnswer(facts: facts, line: line, isDryRun: isDryRun), problems: problems)
    }

    /// Asks whether to replace or delete data; throws `CommandError` if there is no terminal.
    func confirm(_ question: String, yes: Bool) throws -> Bool {
        if yes { return true }
        guard console.canAsk else { throw CommandError.noTerminal }
        let isAgreed = console.ask(question)
        try Interruption.check()
        if !isAgreed { console.message("nothing was changed") }
        return isAgreed
    }

    /// Prints the error that ended a command, and returns the result with that error.
    ///
    /// A hook that skips the run is no error, and is only mentioned.
    func failure(
        _ error: any Error,
        after result: CommandResult = CommandResult(.done)
    ) -> CommandResult {
        if case HookError.skipped = error {
            console.message(explain(error))
        } else {
            console.error(error)
        }
        return result.with(ExitStatus(error), explain(error))
    }

    /// Returns whether a setting applies to this run.
    ///
    /// A profile's monitor would take a backup of other places for the awaited one. A profile prunes its own folder
    /// only.
    func applies(_ key: String) -> Bool {
        guard case .file = profile.origin(of: key) else { return true }
        return isInProfilesPlaces
    }

    /// Whether a backup prunes after it was verified.
    var prunes: Bool { profile.prunes && applies("prune") }

    /// The words that say that backups are suspended; `nil` if they are not.
    var suspension: String? {
        guard let reason = profile.suspended, applies("suspended") else { return nil }
        let profile = profile.name.map { " of '\($0)'" } ?? ""
        return "backups\(profile) are suspended" + (reason == "true" ? "" : ": \(reason)")
    }

    /// The profile's notifications; `nil` if there are none for this run.
    var notifications: Notifications? {
        guard !profile.notify.isEmpty, applies("notify") else { return nil }
        return Notifications(
            profile.notify,
            events: Set(profile.notifyOn),
            timeout: profile.pingTimeout,
            timeZone: timeZone,
            log: log
        )
    }

    /// Returns the job of a command with the places of this run, as the log has it.
    func job(_ command: Run.Command) -> RunLog.Job {
        RunLog.Job(
            command.rawValue,
            profile: isInProfilesPlaces ? profile.name : nil,
            stores: printable(absolute(stores)),
            remote: address
        )
    }

    /// The announcement to the configured application that its stores were replaced.
    var announcement: RestoreAnnouncement {
        isWithProfilesStores ? profile.restore.announcement : RestoreAnnouncement()
    }

    /// The commands that a restore runs around the exchange.
    var applicationCommands: ApplicationCommands {
        var commands = isWithProfilesStores ? profile.restore.commands : ApplicationCommands()
        commands.timeout = profile[hooksFor: .restore].timeout
        if isInProfilesPlaces { commands.profile = profile.name }
        return commands
    }
}

extension Invocation {
    /// Returns the options by which commands in hints mean the places of this run, if options named those.
    ///
    /// - Parameters:
    ///   - configuration: the options of the command line.
    ///   - isOneOfSeveral: whether the same command runs for other profiles too.
    /// - Returns: the options.
    func hinted(_ configuration: ConfigurationOptions, isOneOfSeveral: Bool) -> HintedPlaces {
        var places = configuration.hinted
        func isOption(_ key: String) -> Bool {
            guard case .flag(let name) = profile.origin(of: key) else { return false }
            return name.hasPrefix("--")
        }
        if isOneOfSeveral, let name = profile.name { places.add("profile", name) }
        if isOption("stores") { places.add("stores", absolute(stores).string) }
        if isOption("remote") { places.add("remote", address) }
        return places
    }

    /// The options by which another command means the same places.
    var placeOptions: [String] {
        func isOfRun(_ key: String) -> Bool {
            switch profile.origin(of: key) {
            case .flag, .environment: true
            case .file, .default: false
            }
        }
        var options: [String] = []
        if let name = profile.name { options.append(Advice.option("profile", name)) }
        if let file = profile.file, file != Configuration.usualPath {
            options.append(Advice.option("config", file))
        }
        if isOfRun("stores") { options.append("--stores \(shellWord(absolute(stores)))") }
        if isOfRun("remote") { options.append(Advice.option("remote", address)) }
        return options
    }
}
