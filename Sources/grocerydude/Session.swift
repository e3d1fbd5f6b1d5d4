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
    let context: OperationContext
    let catalog: BackupCatalog
    /// When the command began; the program's only look at the clock.
    let now = Date()
    let timeZone = TimeZone.current
    /// What the command's body did, as far as others want to know.
    let facts = RunFacts()
    /// The program and its version, as manifests name it.
    let tool = "grocerydude \(GroceryDude.version)"

    private init(_ output: OutputOptions, lockWait: Duration) {
        let console = Console(output)
        self.console = console
        self.output = output
        context = OperationContext(
            report: { console.show($0) },
            checkCancellation: Interruption.check,
            threads: min(max(1, ProcessInfo.processInfo.activeProcessorCount), Self.threadsLimit),
            lockWait: lockWait,
            scratch: FilePath(NSTemporaryDirectory())
        )
        catalog = BackupCatalog(FilePath(Surroundings.cache + "/grocerydude/catalog.json"))
    }

    /// Runs a command's body, prints what went wrong, and exits with the code for it.
    ///
    /// - Parameters:
    ///   - output: how to speak.
    ///   - plan: what goes on around it, if it is a run that others want to know of.
    ///   - stores: the stores directory where the command has one: a restore of it that was
    ///     interrupted is finished or undone first.
    ///   - needsWholeStores: whether an interrupted restore that can be neither finished nor undone
    ///     stands in the command's way.
    ///   - lockWait: how long to wait for another run.
    ///   - body: what the command does; what it returns becomes the exit code.
    /// - Throws: `ExitCode`, unless all is done; `ValidationError` where the command was used
    ///   wrongly.
    static func run(
        _ output: OutputOptions,
        _ plan: RunPlan? = nil,
        stores: FilePath? = nil,
        needsWholeStores: Bool = true,
        lockWait: Duration = .zero,
        _ body: (Session) async throws -> ExitStatus
    ) async throws {
        Interruption.install()
        let session = Session(output, lockWait: lockWait)
        let work = {
            if let stores { try await session.recover(stores, isRequired: needsWholeStores) }
            let status = try await body(session)
            session.console.finish()
            session.saveCatalog()
            return status
        }
        let end =
            if let plan { await session.perform(plan, work) } else { await session.attempt(work) }
        if end.code != 0 { throw ExitCode(end.code) }
    }

    /// Finishes or undoes an interrupted restore, as far as it can.
    ///
    /// - Throws: what stands in the way, where the command is about the stores themselves.
    private func recover(_ stores: FilePath, isRequired: Bool) async throws {
        do {
            try await RecoverRestore(of: stores, context: context).run()
        } catch  where !isRequired {
            console.message("warning: \(explain(error))")
        }
    }

    /// Losing it costs time and no data, so it fails nothing; who wants to know hears of it.
    private func saveCatalog() {
        do {
            try catalog.save()
        } catch  where output.verbose {
            console.message("the list of known backups was not saved: \(explain(error))")
        } catch {}
    }

    /// The remote folder that the options, or else the environment, name.
    ///
    /// - Throws: `FileError` where the default folder or a staging directory cannot be made.
    func remote(_ options: RemoteOptions) throws -> any RemoteFolder {
        let address = address(options)
        guard address.hasPrefix(RcloneFolder.scheme) else {
            if options.named == nil { try makeDirectory(address) }
            return LocalFolder(FilePath(address))
        }
        let remote = String(address.dropFirst(RcloneFolder.scheme.count))
        let digest = Array(remote.utf8).withUnsafeBytes { Digest(of: $0) }
        let staging = Surroundings.cache + "/grocerydude/rclone-\(digest.description.prefix(16))"
        try makeDirectory(staging)
        return RcloneFolder(remote, staging: FilePath(staging))
    }

    /// What the remote folder is called; catalog and log remember folders by this, so that it must
    /// not depend on where we are.
    func address(_ options: RemoteOptions) -> String {
        guard let named = options.named else {
            return Surroundings.data + "/grocerydude/Apps/Grocery Dude"
        }
        return named.hasPrefix(RcloneFolder.scheme) ? named : absolute(FilePath(named)).string
    }

    private func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
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
        return RFC3339.text(date, in: timeZone).prefix(19).replacingOccurrences(of: "T", with: " ")
    }
}
