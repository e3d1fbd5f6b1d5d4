internal import Changes
internal import Files
internal import Operations
internal import Remotes
internal import Sync
internal import SystemPackage

extension Invocation {
    /// The directory of what sync keeps of each store.
    static var sidecars: FilePath {
        FilePath(ProcessEnvironment.state + "/grocerydude/sync")
    }

    /// The stores, and what sync keeps of them.
    func syncPlaces() throws -> SyncPlaces {
        try SyncPlaces(stores, sidecars: Self.sidecars, context: context)
    }

    /// Reads a map.
    ///
    /// - Throws: `FileError`, `CommandError.badMap`.
    func syncMap(at path: FilePath) throws -> SyncMap {
        do {
            return try SyncMap(
                json: File.contents(of: path, limit: 1 << 20),
                name: printable(path)
            )
        } catch ChangeError.malformed(let name, let reason) {
            throw CommandError.badMap(name, reason: reason)
        }
    }

    /// The address of the container that the settings name.
    var container: String? { profile.sync.container.map(address) }

    /// Names the remote folder of a container.
    var containerFolder: @Sendable (String) throws -> any RemoteFolder {
        let (namelessRclone, fileSystem) = (namelessRclone, fileSystem)
        return { address in
            guard address.hasPrefix(RcloneFolder.scheme) else {
                return LocalFolder(FilePath(address), fileSystem: fileSystem)
            }
            var rclone = namelessRclone
            rclone.machine = Self.machine
            let remote = String(address.dropFirst(RcloneFolder.scheme.count))
            return RcloneFolder(remote, through: rclone)
        }
    }

    /// How a run exchanges.
    var syncOptions: RunSync.Options {
        var options = RunSync.Options(date: now, program: tool)
        options.container = container
        options.writesWhileOpen = profile.sync.writesWhileOpen
        if isWithProfilesStores { options.commands = profile.sync.commands }
        options.commands.timeout = profile[hooksFor: .sync].timeout
        options.commands.remote = address
        if isInProfilesPlaces { options.commands.profile = profile.name }
        return options
    }

    /// Exchanges stores, and answers.
    ///
    /// - Parameters:
    ///   - names: the stores that are meant; none for all that take part.
    ///   - acceptsChanges: whether most rows of a table may go.
    ///   - rejoining: what the local data mean after an accident; `nil` asks.
    ///   - refills: whether the container is filled with all that this machine knows.
    ///   - isDryRun: whether nothing is changed, and only told what would be.
    ///   - answersNewsOnly: whether nothing is said where nothing was to do.
    /// - Returns: the result; uneventful if nothing was to do.
    /// - Throws: `SyncError`, `OperationError`, `FileError`, `CancellationError`.
    func exchange(
        _ names: [String],
        acceptsChanges: Bool,
        rejoining: Rejoining? = nil,
        refills: Bool = false,
        isDryRun: Bool = false,
        answersNewsOnly: Bool = false
    ) async throws -> CommandResult {
        let places = try syncPlaces()
        var options = syncOptions
        options.acceptsChanges = acceptsChanges
        options.rejoining = rejoining
        options.refills = refills
        options.isDryRun = isDryRun
        let synced = try await RunSync(
            in: places,
            folder: containerFolder,
            options: options,
            context: context
        ).run(places.enabled(named: names))
        let isNews = synced.contains { $0.error != nil || $0.outcome?.isQuiet == false }
        if isNews || !answersNewsOnly {
            try console.answer(SyncRunAnswer(synced, isDryRun: isDryRun, self))
        }
        var result = result(of: synced)
        result.isUneventful = !isNews
        return result
    }

    /// Returns the result of exchanges, after their errors were told.
    ///
    /// Of several stores of which some are done, the result is that of work that is done in part.
    func result(of synced: [SyncedStore]) -> CommandResult {
        var result = CommandResult(.done)
        for store in synced {
            guard let error = store.error else { continue }
            result = failure(error, after: result)
        }
        guard synced.count > 1, result.status != .done else { return result }
        return synced.contains { $0.error == nil }
            ? result.with(.partial, result.message) : result
    }
}
