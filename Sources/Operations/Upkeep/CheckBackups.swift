internal import Archives
internal import Files
public import Foundation
public import Remotes
internal import Stores
internal import SystemPackage

/// Checks backups: structure and the SHA-256 of all data, or a restore in a directory of its own.
public struct CheckBackups: Sendable {
    /// What may be chosen.
    public struct Options: Sendable {
        /// Whether to restore into a scratch directory, open every store and check it in full.
        public var restores = false
        /// Whether a remark of that check is damage: rows that refer to rows that are not there.
        public var isStrict = false
        public var limits = RestoreLimits()

        public init() {}
    }

    /// What became of one backup.
    public struct Result: Sendable {
        public var backup: Backup
        /// What was read of the data; `nil` where it was restored, which is all.
        public var subset: DataSubset?
        /// What is wrong with it; empty for a backup that is whole.
        public var damage: [String]
        /// What is worth knowing of its stores, and is no damage.
        public var remarks: [String] = []
        /// Why it could not be checked: nothing is known of it then.
        public var failure: (any Error)?

        /// Whether it was checked and is whole.
        public var isGood: Bool { damage.isEmpty && failure == nil }
    }

    private let remote: any RemoteFolder
    private let catalog: BackupCatalog
    private let timeZone: TimeZone
    private let options: Options
    private let context: OperationContext

    public init(
        in remote: any RemoteFolder,
        catalog: BackupCatalog,
        timeZone: TimeZone,
        options: Options,
        context: OperationContext
    ) {
        self.remote = remote
        self.catalog = catalog
        self.timeZone = timeZone
        self.options = options
        self.context = context
    }

    /// All backups, newest first.
    ///
    /// - Returns: one at least.
    /// - Throws: `OperationError.noBackups`; `RemoteError`.
    public func all() async throws -> [Backup] {
        let backups = try await ListBackups(
            in: remote,
            catalog: catalog,
            timeZone: timeZone
        ).run().backups
        guard !backups.isEmpty else { throw OperationError.noBackups(remote.address) }
        return backups
    }

    /// The backups that a person means, each by its name.
    ///
    /// - Parameters:
    ///   - names: what the person said.
    ///   - backups: as `all` returns them.
    ///   - now: what is later is `latest` only where there is nothing else.
    /// - Returns: each of them once.
    /// - Throws: `OperationError.noBackup` and its like.
    public func find(_ names: [String], in backups: [Backup], now: Date? = nil) throws -> [Backup] {
        var found: [Backup] = []
        for name in names {
            let backup = try backups.matching(name, address: remote.address, now: now)
            if !found.contains(backup) { found.append(backup) }
        }
        return found
    }

    /// Checks one backup.
    ///
    /// - Parameters:
    ///   - backup: which.
    ///   - subset: what to read of the data, where it is not restored.
    /// - Returns: what was found.
    /// - Throws: `CancellationError`; all else is in the result.
    public func run(_ backup: Backup, reading subset: DataSubset = .all) async throws -> Result {
        var result = Result(backup: backup, subset: options.restores ? nil : subset, damage: [])
        do {
            let archive = try await FetchedArchive.fetch(backup, from: remote, context)
            defer { withExtendedLifetime(archive) {} }
            let plan = try Extraction.Plan(
                archive.path,
                name: backup.name,
                limits: options.limits
            )
            catalog.learn(plan.contents, of: backup, in: remote.address)
            if options.restores {
                try rehearse(plan, &result)
            } else {
                try Extraction(plan, context).verify(reading: subset)
            }
        } catch let error where Self.isDamage(error) {
            result.damage = [explain(error)]
        } catch let error as CancellationError {
            throw error
        } catch {
            result.failure = error
        }
        return result
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case OperationError.badManifest: true
        case let error as ArchiveError:
            if case .encrypted = error { false } else { true }
        case StoreError.damaged: true
        default: false
        }
    }

    // MARK: - Rehearsal

    private func rehearse(_ plan: Extraction.Plan, _ result: inout Result) throws {
        try plan.checkSpace(at: context.scratch)
        let scratch = try ScratchDirectory(in: context.scratch)
        defer { withExtendedLifetime(scratch) {} }
        try Extraction(plan, context).rehearse(into: Directory.open(scratch.path))
        context.report(.began(.checking, total: nil))
        let directory = try StoresDirectory(scratch.path)
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
        // No fault of the archive, but of what it saved: a person wants to know it all the same.
        result.damage = try damage + search.finish().map(\.description)
    }
}
