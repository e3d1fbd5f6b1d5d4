internal import Changes
internal import Files
internal import Operations
internal import Remotes
internal import Sync
internal import SystemPackage

/// The inputs of operations that sync the stores of a run.
struct SyncInputs {
    private let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// The directory with the sidecars of all stores.
    static var sidecars: FilePath {
        FilePath(ProcessEnvironment.state + "/grocerydude/sync")
    }

    /// Returns the stores with their sidecars.
    func places() throws -> SyncPlaces {
        try SyncPlaces(
            invocation.stores,
            sidecars: Self.sidecars,
            context: invocation.context,
            folder: folder
        )
    }

    /// Reads a map.
    ///
    /// - Throws: `FileError`, `CommandError.badMap`.
    func map(at path: FilePath) throws -> SyncMap {
        do {
            return try SyncMap(
                json: File.contents(of: path, limit: 1 << 20),
                name: printable(path)
            )
        } catch ChangeError.malformed(let name, let reason) {
            throw CommandError.badMap(name, reason: reason)
        }
    }

    /// The address of the configured container, as it is used.
    var container: String? { invocation.profile.sync.container.map(invocation.place) }

    /// A closure that returns the remote folder of a container.
    private var folder: @Sendable (String) throws -> any RemoteFolder {
        let (namelessRclone, fileSystem) = (invocation.namelessRclone, invocation.fileSystem)
        return { address in
            var rclone = namelessRclone
            let address = RemoteAddress(address)
            if address.isOfRclone { rclone.machine = MachineSecret.kept }
            return address.folder(through: rclone, fileSystem: fileSystem)
        }
    }

    /// The options of an exchange.
    var options: RunSync.Options {
        var options = RunSync.Options(date: invocation.now, program: invocation.tool)
        options.container = container
        options.writesWhileOpen = invocation.profile.sync.writesWhileOpen
        if invocation.isWithProfilesStores { options.commands = invocation.profile.sync.commands }
        options.commands.timeout = invocation.profile[hooksFor: .sync].timeout
        options.commands.remote = invocation.place
        if invocation.isInProfilesPlaces { options.commands.profile = invocation.profile.name }
        return options
    }

    /// Exchanges stores, and answers.
    ///
    /// - Parameters:
    ///   - names: the names of the stores; none for all stores that take part.
    ///   - acceptsChanges: whether most rows of a table may be deleted.
    ///   - rejoining: the meaning of the local data after an accident; `nil` asks.
    ///   - refills: whether to fill the container with everything that this machine knows.
    ///   - isDryRun: whether to change nothing and only report the changes.
    ///   - answersNewsOnly: whether to print nothing if there was nothing to do.
    /// - Returns: the result; uneventful if there was nothing to do.
    /// - Throws: `SyncError`, `OperationError`, `FileError`, `CancellationError`.
    func exchange(
        _ names: [String],
        acceptsChanges: Bool,
        rejoining: Rejoining? = nil,
        refills: Bool = false,
        isDryRun: Bool = false,
        answersNewsOnly: Bool = false
    ) async throws -> CommandResult {
        let places = try places()
        var options = options
        options.acceptsChanges = acceptsChanges
        options.rejoining = rejoining
        options.refills = refills
        options.isDryRun = isDryRun
        let synced = try await RunSync(in: places, options: options)
            .run(places.enabled(named: names))
        let isNews = synced.contains { $0.error != nil || $0.outcome?.isQuiet == false }
        if isNews || !answersNewsOnly {
            try invocation.console.answer(SyncRunAnswer(synced, isDryRun: isDryRun, invocation))
        }
        var result = result(of: synced)
        result.isUneventful = !isNews
        return result
    }

    /// Returns the result of exchanges, and reports their errors.
    ///
    /// If only some of several stores succeeded, the result is partial.
    func result(of synced: [SyncedStore]) -> CommandResult {
        var result = CommandResult(.done)
        for store in synced {
            guard let error = store.error else { continue }
            result = invocation.failure(error, after: result)
        }
        guard synced.count > 1, result.status != .done else { return result }
        return synced.contains { $0.error == nil }
            ? result.with(.partial, result.message) : result
    }
}
