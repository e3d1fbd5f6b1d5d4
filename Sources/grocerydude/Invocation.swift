internal import ArgumentParser
internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import SystemPackage

/// One run of a command: what it needs of the world, and how it ends.
struct Session {
    /// Each thread costs some 4 MiB of buffers; more of them would not be kept busy by one reader.
    private static let threadsLimit = 16

    let console: Console
    let output: OutputOptions
    /// All settings that are in force, wherever they were said.
    let profile: Profile
    let context: OperationContext
    let catalog: BackupCatalog
    /// What the command's body did, as far as others want to know.
    let facts = RunFacts()
    /// When the command began; the program's only look at the clock.
    let now = Date()
    let timeZone = TimeZone.current
    /// The program and its version, as manifests name it.
    let tool = "grocerydude \(GroceryDude.version)"

    /// The stores directory.
    var stores: FilePath { profile.stores }

    private init(_ profile: Profile, _ output: OutputOptions, _ console: Console) {
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
        catalog = BackupCatalog(FilePath(Surroundings.cache + "/grocerydude/catalog.json"))
    }

    /// Runs a command's body, prints what went wrong, and exits with the code for it.
    ///
    /// A restore of the stores that was interrupted is finished or undone first.
    ///
    /// - Parameters:
    ///   - output: how to speak.
    ///   - stores: which profile, and which stores directory.
    ///   - remote: which remote folder, where the command has one.
    ///   - command: what the log, metrics and hooks call it, where it is a run that they want to
    ///     know of.
    ///   - flags: more settings that are said on the command line.
    ///   - ofAllProfiles: whether to run the body for every profile, with a session for each. One that
    ///     fails does not keep the others from running, and the exit code is the worst of them.
    ///   - recovers: whether to do that; `false` for who only wants to look.
    ///   - needsWholeStores: whether an interrupted restore that can be neither finished nor undone
    ///     stands in the command's way.
    ///   - body: what the command does; what it returns becomes the exit code.
    /// - Throws: `ExitCode`, unless all is done; `ValidationError` where the command was used
    ///   wrongly.
    static func run(
        _ output: OutputOptions,
        _ stores: StoresOptions,
        _ remote: RemoteOptions? = nil,
        as command: Run.Command? = nil,
        flags: [FlagValue] = [],
        ofAllProfiles: Bool = false,
        recovers: Bool = true,
        needsWholeStores: Bool = true,
        _ body: (Session) async throws -> ExitStatus
    ) async throws {
        let flags = stores.flags + (remote?.flags ?? []) + flags
        try await reporting(to: Console(output)) {
            let configuration = try Configuration(stores.configuration)
            func run(_ session: Session) async -> Int32 {
                let code = await session.run(command) {
                    if recovers { try await session.recover(isRequired: needsWholeStores) }
                    // What was learnt before a failure is true all the same.
                    let result: Result<ExitStatus, any Error>
                    do {
                        result = .success(try await body(session))
                        session.console.finish()
                    } catch {
                        result = .failure(error)
                    }
                    await session.saveCatalog()
                    return try result.get()
                }
                // Only the caller of the program hears of a lost answer: the work was done.
                return session.console.code(after: code)
            }
            guard ofAllProfiles else {
                let profile = try configuration.profile(flags)
                let session = Session(profile, output, Console(output))
                return await run(session)
            }
            var worst: Int32 = 0
            for profile in try configuration.allProfiles(flags) {
                try Interruption.check()
                let session = Session(profile, output, Console(output, profile: profile.name))
                let code = await run(session)
                worst = ExitStatus.worse(worst, code)
            }
            return worst
        }
    }

    /// Runs what has no session, prints what went wrong, and exits with the code for it.
    ///
    /// - Throws: `ExitCode`, unless all is done.
    static func reporting(
        to console: Console,
        _ body: () async throws -> Int32
    ) async throws {
        Interruption.install()
        // A umask that takes rights from the owner would make archives that we cannot read again.
        _ = umask(umask(0o777) & 0o077)
        let code: Int32
        do {
            code = console.code(after: try await body())
        } catch {
            console.error(error)
            code = exitCode(for: error)
        }
        for path in ScratchDirectory.left {
            console.message("'\(printable(path))' could not be removed; the next run will do it")
        }
        if code != 0 { throw ExitCode(code) }
    }

    /// Finishes or undoes an interrupted restore, as far as it can.
    ///
    /// - Throws: what stands in the way, where the command is about the stores themselves.
    private func recover(isRequired: Bool) async throws {
        do {
            try await RecoverRestore(of: stores, context: context).run()
        } catch  where !isRequired {
            let hint = (error as? any ExplainedError)?.hint.map { " (\($0))" } ?? ""
            context.report(.warning(explain(error) + hint))
        }
    }

    /// Losing it costs time and no data, so it fails nothing; who wants to know hears of it.
    private func saveCatalog() async {
        do {
            try await catalog.save()
        } catch  where output.verbose {
            console.message("the list of known backups was not saved: \(explain(error))")
        } catch {}
    }

    /// The remote folder; the one that is built in is made where it is missing.
    ///
    /// - Throws: `FileError` where that folder or a staging directory cannot be made.
    func remote() throws -> any RemoteFolder {
        let address = address
        if profile.origin(of: "remote") == .default {
            try LocalFileSystem().createDirectories(FilePath(address))
        }
        guard address.hasPrefix(RcloneFolder.scheme) else { return LocalFolder(FilePath(address)) }
        let remote = String(address.dropFirst(RcloneFolder.scheme.count))
        let digest = Array(remote.utf8).withUnsafeBytes { Digest(of: $0) }
        let staging = Surroundings.cache + "/grocerydude/rclone-\(digest.description.prefix(16))"
        try LocalFileSystem().createDirectories(FilePath(staging))
        return RcloneFolder(remote, staging: FilePath(staging))
    }

    /// What the remote folder is called; catalog and log remember folders by this, so that it must
    /// not depend on where we are.
    var address: String { address(profile.remote) }

    private func address(_ address: String) -> String {
        address.hasPrefix(RcloneFolder.scheme) ? address : absolute(FilePath(address)).string
    }

    /// Whether this is the stores directory that the configuration has, where it has one: what the profile
    /// runs is about the application there.
    var isWithProfilesStores: Bool {
        profile.configuredStores.map { absolute($0) == absolute(stores) } ?? true
    }

    /// Whether these are the places that the configuration has, where it has any: what is told of the
    /// profile is about the backups of one in the other.
    var isInProfilesPlaces: Bool {
        isWithProfilesStores && profile.configuredRemote.map { address($0) == address } ?? true
    }

    /// A path that means the same from everywhere, whether something is there or not.
    func absolute(_ path: FilePath) -> FilePath {
        let path = FilePath(FileManager.default.currentDirectoryPath).pushing(path)
        return (try? path.resolved()) ?? path.lexicallyNormalized()
    }

    /// Asks before something is replaced or deleted.
    ///
    /// - Returns: whether to go on.
    /// - Throws: `CommandError` where nobody can be asked.
    func confirm(_ question: String, yes: Bool) throws -> Bool {
        if yes { return true }
        guard console.canAsk else {
            throw CommandError.nobodyToAsk
        }
        let isAgreed = console.ask(question)
        try Interruption.check()
        return isAgreed
    }

    /// Local date and time as people read it.
    func text(_ date: Date?) -> String {
        guard let date else { return "unknown" }
        let text = RFC3339.text(date, in: timeZone)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
    }
}
