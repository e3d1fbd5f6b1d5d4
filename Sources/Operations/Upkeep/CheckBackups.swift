internal import Age
internal import Archives
public import Backups
internal import Files
public import Foundation
public import History
internal import Remotes
internal import Stores
internal import SystemPackage

/// Checks backups: their structure and the SHA-256 of all data, or a restore into a separate directory.
public struct CheckBackups: Sendable {
    /// The options of a check.
    public struct Options: Sendable {
        /// Whether to restore into a scratch directory, open every store and check it in full.
        public var restores = false
        /// Whether remarks of that check count as damage: rows that refer to missing rows.
        public var isStrict = false
        public var limits = RestoreLimits()
        /// Whether only an increment's own data is checked, and its base backups are not fetched.
        public var leavesOutNeeds = false

        public init() {}
    }

    /// Something that a check looks at, in this order.
    public enum Aspect: String, Sendable, CaseIterable {
        /// The structure of the archive, and its manifest.
        case archive
        /// The digests of the data.
        case contents
        /// The stores, each by SQLite in full.
        case stores
        /// The files that rows refer to.
        case files
        /// The signature of the manifest.
        case signature
    }

    /// The finding of a check about something that it looked at.
    public enum Finding: String, Sendable {
        case well, damaged
        /// Only a part of the data was read, or only a part of the files was saved, as the backup says.
        case part
        /// The signer is not known.
        case unknown
    }

    /// The result for one backup.
    public struct Result: Sendable {
        public var backup: Backup
        /// The part of the data that was read; `nil` if the backup was restored, which reads all data.
        public var subset: DataSubset?
        /// The damage found; empty for an intact backup.
        public var damage: [String]
        /// The remarks about its stores that are no damage.
        public var remarks: [String] = []
        /// The number of files of external data that rows of its stores refer to; `nil` if there can be none, or if
        /// they were not checked.
        public var externalReferences: Int?
        /// The number of these files that were already reported missing when the backup was made.
        public var missingReferences = 0
        /// The reason why it could not be checked; its state is then unknown.
        public var failure: (any Error)?
        /// The basis of the comparison, if its data was not read.
        public var comparison: BackupComparison.Basis?
        /// The findings about all that was looked at; whatever is not there was not looked at.
        public internal(set) var findings: [Aspect: Finding] = [:]
        /// The aspect that is being looked at.
        var current: Aspect?
        /// Whether the damage is that a needed backup is missing; it may come back, so this is recorded nowhere.
        var lacksNeed = false

        /// Whether it was checked and is intact.
        public var isGood: Bool {
            if case .nothing = comparison { return false }
            return damage.isEmpty && failure == nil
        }

        /// Begins to look at something, so that it is known what an error is about.
        mutating func look(at aspect: Aspect) { current = aspect }

        /// Ends to look at something.
        mutating func find(_ finding: Finding) {
            if let current { findings[current] = finding }
            current = nil
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

    /// Returns all backups, including waiting ones, the newest first.
    ///
    /// - Returns: the backups, and the error if the folder is unreachable and only waiting backups are known.
    /// - Throws: `BackupFolderError.noBackups` if there are none; see `BackupFolder.listWithWaiting`.
    public func all() async throws -> (backups: [Backup], unreachable: (any Error)?) {
        let (listing, unreachable) = try await folder.listWithWaiting()
        if let unreachable { context.warnOfUnknown(unreachable) }
        let backups = listing.backups
        if let vanished = await folder.losses.vanished() {
            context.warn(vanished.warning(in: folder.timeZone))
        }
        guard !backups.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        return (backups, unreachable)
    }

    /// Returns the same backups, with those full backups first that others are built on.
    ///
    /// So a check that is ended early has read the most needed ones.
    public func mostNeededFirst(_ backups: [Backup]) -> [Backup] {
        let needs = Dependence(of: backups, by: backups)
        let isBase = backups.map {
            !$0.isIncrement && needs.newestDependant(of: $0) { _ in true } != nil
        }
        let pairs = zip(backups, isBase)
        return pairs.filter { $1 }.map { $0.0 } + pairs.filter { !$1 }.map { $0.0 }
    }

    /// Returns the named backups, each once; see `[Backup].matching`.
    public func find(_ names: [String], in backups: [Backup], now: Date? = nil) throws -> [Backup] {
        try names.reduce(into: []) { found, name in
            let backup = try backups.matching(name, address: folder.address, now: now)
            if !found.contains(backup) { found.append(backup) }
        }
    }

    /// Checks one backup, and records the result.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - subset: the part of the data to read, unless the backup is restored.
    ///   - date: the current time.
    /// - Returns: the result; it contains every error except a cancellation.
    /// - Throws: `CancellationError`.
    public func run(
        _ backup: Backup,
        reading subset: DataSubset = .all,
        at date: Date
    ) async throws -> Result {
        let (result, id) = try await examine(backup, reading: subset)
        guard result.failure == nil, !result.lacksNeed else { return result }
        let check = await remember(result, id, at: date)
        if !result.damage.isEmpty, backup.isIncrement { try await blameNeeds(of: backup, at: date) }
        guard result.damage.isEmpty else { return result }
        let histories =
            [backup.checks] + [backup.noted].compactMap(\.self).map { CheckHistory([$0]) }
        return result.with(histories.lazy.compactMap { $0.adding(check).damaged?.damage }.first)
    }

    /// Checks by themselves the backups that a damaged increment needs, and records the damaged ones.
    ///
    /// So no other backup is built on these.
    private func blameNeeds(of backup: Backup, at date: Date) async throws {
        guard !options.leavesOutNeeds, let listing = try? await folder.list() else { return }
        var alone = options
        (alone.leavesOutNeeds, alone.restores) = (true, false)
        let check = CheckBackups(in: folder, options: alone, context: context)
        for need in listing.backups.withNeeds(of: [backup])
        where need.name.exact != backup.name.exact {
            let (result, id) = try await check.examine(need, reading: .all)
            if !result.damage.isEmpty { await remember(result, id, at: date) }
        }
    }

    /// Checks one backup.
    private func examine(
        _ backup: Backup,
        reading subset: DataSubset
    ) async throws -> (Result, BackupID?) {
        var result = Result(backup: backup, subset: options.restores ? nil : subset, damage: [])
        var id = backup.id
        result.look(at: .archive)
        do {
            let archived = try await context.open(
                backup,
                in: folder,
                holdingTo: options.limits,
                alone: options.leavesOutNeeds && !options.restores
            )
            id = archived.id
            result.find(.well)
            lookAtSignature(of: archived, &result)
            result.look(at: .contents)
            if options.restores {
                try rehearse(archived, &result)
            } else {
                try context.verify(archived, reading: subset)
                result.find(result.part == nil ? .well : .part)
                if result.part == nil { try checkReferences(of: archived, &result) }
            }
        } catch let error where error.reportsDamage || error.isOfMissingNeed {
            result.damage = [explain(error)]
            result.lacksNeed = error.isOfMissingNeed
            result.find(.damaged)
        } catch  where !(error is CancellationError) {
            result.failure = error
        }
        return (result, id)
    }

    private func lookAtSignature(of archived: ArchivedBackup, _ result: inout Result) {
        result.look(at: .signature)
        if let remark = folder.remark(onSignerOf: archived) {
            result.remarks.append(remark)
            result.find(.unknown)
        } else if archived.isTrusted {
            result.find(.well)
        }
    }

    /// Returns whether the folder has a new backup with all its bytes; if so, reports that.
    ///
    /// - Parameter backup: the backup, as it was written.
    /// - Returns: `false` if anything is missing.
    /// - Throws: `RemoteError`.
    func isAllThere(_ backup: Backup) async throws -> Bool {
        let files = try await folder.home(of: backup).remote.list()
        guard
            files.contains(where: { $0.name.exact == backup.name.exact && $0.size == backup.size })
        else {
            return false
        }
        context.note("'\(backup.displayName)' was verified by its size: no key opens it")
        return true
    }

    /// Records a result; a failure to do so is not a failure of the check.
    ///
    /// - Returns: the record.
    @discardableResult
    func remember(_ result: Result, _ id: BackupID?, at date: Date) async -> RunLog.Check {
        var backup = result.backup
        backup.id = backup.id ?? id
        let folder = folder.home(of: backup)
        let check = RunLog.Check(
            of: backup,
            in: folder.address,
            at: date,
            depth: result.depth,
            part: result.part,
            damage: result.damage.first
        )
        do {
            try folder.memory.log?.recordCheck(check)
        } catch {
            context.note("this check was not logged: \(explain(error))")
        }
        guard check.damage != nil || backup.noted != nil else { return check }
        do {
            try await context.withLock(folder) { try await folder.notes.note(check, of: backup) }
        } catch {
            context.warn(
                "the check of '\(backup.displayName)' was not noted beside it: \(explain(error))"
            )
        }
        return check
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
        result.find(.well)
        result.look(at: .stores)
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
        result.find(damage.isEmpty ? .well : .damaged)
        result.remarks += remarks
        result.look(at: .files)
        result.externalReferences = try search.facts().compactMap(\.externalReferences)
            .reduce(nil) { ($0 ?? 0) + Int($1) }
        // The archive is not to blame for the saved stores, but the user needs to know.
        let missing = try search.finish().map(\.description)
        result.find(missing.isEmpty ? .well : .damaged)
        result.damage = damage + missing
    }
}

extension CheckBackups.Result {
    /// The depth of the check, for the log.
    public var depth: RunLog.Check.Depth {
        subset == nil ? .restore : part == nil ? .data : .part
    }

    /// The part that was read; `nil` if all data was read.
    public var part: RunLog.Check.Part? {
        switch subset {
        case nil, .all, .share(percent: 100), .part(_, of: 1): nil
        case .share(let percent): .share(DataSubset.share(percent: percent).description)
        case .part(let part, let count): .one(part, of: count)
        }
    }
}

extension CheckBackups {
    /// Compares backups with the records of their uploads, without reading data.
    ///
    /// Damage is recorded as that of a check. A comparison without findings proves too little to be recorded.
    ///
    /// An increment is compared together with the backups that it is built on, and is no better than these.
    ///
    /// - Returns: a result for each backup, in the same order.
    /// - Throws: `RemoteError`.
    public func compare(_ backups: [Backup], at date: Date) async throws -> [Result] {
        let needs = try await needs(of: backups.filter(\.isIncrement))
        let names = Set(backups.map(\.name.exact))
        let others = needs.values.joined().filter { !names.contains($0.name.exact) }
        let all = Dictionary(grouping: others, by: \.name.exact).values.compactMap(\.first)
        var results: [Result] = []
        for (backup, comparison) in zip(
            backups + all,
            try await BackupComparison.compare(backups + all, in: folder)
        ) {
            var result = Result(
                backup: backup,
                subset: .all,
                damage: [comparison.damage].compactMap(\.self)
            )
            result.comparison = comparison.basis
            if !result.damage.isEmpty { await remember(result, backup.id, at: date) }
            results.append(result.damage.isEmpty ? result.with(backup.archiveDamage) : result)
        }
        let byName = Dictionary(results.map { ($0.backup.name.exact, $0) }) { first, _ in first }
        return results.prefix(backups.count).map { result in
            let needs = needs[result.backup.name.exact] ?? []
            return result.with(needs.compactMap { byName[$0.name.exact] })
        }
    }

    /// Returns the backups that each of some increments is known to need, by the increment's name.
    private func needs(of increments: [Backup]) async throws -> [ExactString: [Backup]] {
        guard !increments.isEmpty else { return [:] }
        let listed = try await folder.list().backups
        let dependence = Dependence(of: listed, by: increments)
        return listed.reduce(into: [:]) { needs, base in
            for increment in dependence.knownDependants(of: base) {
                needs[increment.name.exact, default: []].append(base)
            }
        }
    }
}

extension CheckBackups.Result {
    /// Returns the result with damage that an earlier check found, in data that this one did not read.
    fileprivate func with(_ known: String?) -> Self {
        guard let known else { return self }
        var result = self
        result.damage = ["an earlier check found it damaged, and this one read less: \(known)"]
        return result
    }

    /// Returns the result of the comparison of an increment, given those of the backups that it is built on.
    fileprivate func with(_ needs: [Self]) -> Self {
        var result = self
        guard damage.isEmpty else { return result }
        if let need = needs.first(where: { !$0.damage.isEmpty }) {
            result.damage = ["it is built on '\(need.backup.displayName)': \(need.damage[0])"]
        } else if backup.lack != nil {
            result.damage = [backup.damage].compactMap(\.self)
        } else if let need = needs.first(where: { !$0.isGood }), isGood {
            let reason = "it is built on '\(need.backup.displayName)', which cannot be compared"
            result.comparison = .nothing(reason)
        }
        return result
    }
}
