internal import Age
internal import Archives
public import Backups
internal import Files
public import Foundation
public import History
internal import Remotes
internal import Stores
internal import SystemPackage

/// Checks backups: their structure and the SHA-256 of all data, or a restore in a directory of its own.
public struct CheckBackups: Sendable {
    /// The choices that a check leaves.
    public struct Options: Sendable {
        /// Whether to restore into a scratch directory, open every store and check it in full.
        public var restores = false
        /// Whether a remark of that check is damage: rows that refer to rows that are not there.
        public var isStrict = false
        public var limits = RestoreLimits()
        /// Whether of an increment its own data is enough, and nothing else is fetched.
        public var leavesOutNeeds = false

        public init() {}
    }

    /// The result for one backup.
    public struct Result: Sendable {
        public var backup: Backup
        /// The part of the data that was read; `nil` if it was restored, which reads all.
        public var subset: DataSubset?
        /// Everything that is wrong with it; empty for a backup that is whole.
        public var damage: [String]
        /// Everything about its stores that is worth knowing and no damage.
        public var remarks: [String] = []
        /// How many files of external data the rows of its stores refer to; `nil` if there are none that could, or if
        /// they were not looked for.
        public var externalReferences: Int?
        /// How many of these are missing, as was told when the backup was made.
        public var missingReferences = 0
        /// The reason that it could not be checked: nothing is known of it then.
        public var failure: (any Error)?
        /// What it was compared by, if its data was not read.
        public var comparison: BackupComparison.Basis?

        /// Whether it was checked and is whole.
        public var isGood: Bool {
            if case .nothing = comparison { return false }
            return damage.isEmpty && failure == nil
        }
    }

    let folder: BackupFolder
    private let options: Options
    let context: OperationContext

    public init(in folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Returns all backups, those that wait too, newest first; throws `BackupFolderError.noBackups` if
    /// there are none.
    public func all() async throws -> [Backup] {
        let (listing, unreachable) = try await folder.listWithWaiting()
        if let unreachable { context.warnOfUnknown(unreachable) }
        let backups = listing.backups
        if let vanished = await folder.vanished() {
            context.warn(vanished.warning(in: folder.timeZone))
        }
        guard !backups.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        return backups
    }

    /// Returns the same backups, with whole ones first that others are built on: a check that is ended early has
    /// then read what most depends on.
    public func mostNeededFirst(_ backups: [Backup]) -> [Backup] {
        let needs = Dependence(of: backups, by: backups)
        let isBase = backups.map { !$0.isIncrement && !needs.dependants(of: $0).isEmpty }
        let pairs = zip(backups, isBase)
        return pairs.filter { $1 }.map { $0.0 } + pairs.filter { !$1 }.map { $0.0 }
    }

    /// Returns the backups that a person means, each once; see `[Backup].matching`.
    public func find(_ names: [String], in backups: [Backup], now: Date? = nil) throws -> [Backup] {
        try names.reduce(into: []) { found, name in
            let backup = try backups.matching(name, address: folder.address, now: now)
            if !found.contains(backup) { found.append(backup) }
        }
    }

    /// Checks one backup, and remembers the result.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - subset: the part of the data to read, unless it is restored.
    ///   - date: now.
    /// - Returns: the result; every error but a cancellation is in it.
    /// - Throws: `CancellationError`.
    public func run(
        _ backup: Backup,
        reading subset: DataSubset = .all,
        at date: Date
    ) async throws -> Result {
        var result = Result(backup: backup, subset: options.restores ? nil : subset, damage: [])
        var id = backup.id
        do {
            let archived = try await context.open(
                backup,
                in: folder,
                holdingTo: options.limits,
                alone: options.leavesOutNeeds && !options.restores
            )
            id = archived.id
            if options.restores {
                try rehearse(archived, &result)
            } else {
                try context.verify(archived, reading: subset)
                if result.part == nil { try checkReferences(of: archived, &result) }
            }
        } catch let error where error.tellsDamage {
            result.damage = [explain(error)]
        } catch let error as CancellationError {
            throw error
        } catch {
            result.failure = error
            return result
        }
        await remember(result, id, at: date)
        return result
    }

    /// Returns whether the folder has a backup that was just made with all of its bytes, and says so.
    ///
    /// - Parameter backup: the backup, as it was written.
    /// - Returns: `false` if something is missing.
    /// - Throws: `RemoteError`.
    func isAllThere(_ backup: Backup) async throws -> Bool {
        let files = try await folder.home(of: backup).remote.list()
        guard files.contains(where: { $0.name == backup.name && $0.size == backup.size }) else {
            return false
        }
        context.note("'\(backup.displayName)' was verified by its size: no key opens it")
        return true
    }

    /// Remembers a result; if that fails, the check has not.
    func remember(_ result: Result, _ id: BackupID?, at date: Date) async {
        var backup = result.backup
        backup.id = backup.id ?? id
        let folder = folder.home(of: backup)
        let check = RunLog.Check(
            id: backup.key.rawValue,
            address: folder.address,
            name: backup.name,
            time: date,
            depth: result.depth,
            part: result.part,
            damage: result.damage.first
        )
        do {
            try folder.memory.log?.recordCheck(check)
        } catch {
            context.note("this check was not logged: \(explain(error))")
        }
        guard check.damage != nil || backup.notedDamage != nil else { return }
        do {
            try await context.withLock(folder) { try await folder.note(check, of: backup) }
        } catch {
            context.warn(
                "the check of '\(backup.displayName)' was not noted beside it: \(explain(error))"
            )
        }
    }

    // MARK: - Rehearsal

    private func rehearse(_ archived: ArchivedBackup, _ result: inout Result) throws {
        try archived.checkSpace(at: context.scratch)
        try ScratchDirectory.with(in: context.scratch) { try rehearse(archived, in: $0, &result) }
    }

    private func rehearse(
        _ archived: ArchivedBackup,
        in scratch: FilePath,
        _ result: inout Result
    ) throws {
        try context.rehearse(archived, into: Directory.open(scratch))
        context.report(.began(.checking, total: nil))
        let directory = try StoresDirectory(scratch)
        let search = try ExternalDataSearch(in: directory, context)
        defer { search.close() }
        var (damage, remarks): ([String], [String]) = ([], [])
        try directory.checkStores(
            .full,
            isStrict: options.isStrict,
            context,
            remark: { remarks.append($0) },
            tolerating: { error in
                guard case .damaged = error else { throw error }
                damage.append(error.description)
            }
        )
        result.remarks = remarks
        result.externalReferences = try search.facts().compactMap(\.externalReferences)
            .reduce(nil) { ($0 ?? 0) + Int($1) }
        // Not a fault of the archive but of the saved stores; a person wants to know it all the same.
        result.damage = try damage + search.finish().map(\.description)
    }
}

extension CheckBackups.Result {
    /// How deep the check went, as the log has it.
    public var depth: RunLog.Check.Depth {
        subset == nil ? .restore : part == nil ? .data : .part
    }

    /// The part that was read; `nil` if all was.
    public var part: RunLog.Check.Part? {
        switch subset {
        case nil, .all, .share(percent: 100), .part(_, of: 1): nil
        case .share(let percent): .share(DataSubset.share(percent: percent).description)
        case .part(let part, let count): .one(part, of: count)
        }
    }
}
