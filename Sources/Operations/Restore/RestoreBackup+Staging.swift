internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

extension RestoreBackup {
    /// Announces a restore and creates the directory to stage in.
    ///
    /// It stages inside the stores directory if nothing may be created beside it.
    ///
    /// - Returns: the swap, with an empty directory to stage in.
    /// - Throws: `RestoreError.inTheWay`, `FileError`; nothing is left behind then.
    func stage(
        _ plan: RestorePlan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks,
        after first: RestoreJournal? = nil
    ) throws -> NameSwap {
        try paths.makeRoom(
            settingAside: options.setsAsideLeftovers,
            with: fileSystem,
            note: context.note
        )
        var journal = RestoreJournal(phase: .staging, backup: plan.name)
        journal.allowsDamage = options.allowsDamage
        journal.isApplicationStopped = first?.isApplicationStopped ?? false
        journal.safety = first?.safety
        journal.part = plan.roots
        var swap = NameSwap(paths: paths, fileSystem: fileSystem, journal: journal)
        do {
            try swap.stage()
            return swap
        } catch {
            end(&swap)
            guard let refusal = renameRefusal(error, paths, locks) else { throw error }
            return try stage(plan, inside(paths, since: refusal), locks, after: first)
        }
    }

    /// Stages again, inside the stores directory.
    ///
    /// If the application is stopped, at least one of the two restore journals records that at any moment.
    func stageInside(
        _ swap: inout NameSwap,
        _ plan: RestorePlan,
        _ locks: RestoreLocks,
        since refusal: FileError
    ) throws {
        let first = swap
        swap = try stage(
            plan,
            inside(first.paths, since: refusal),
            locks,
            after: first.journal
        )
        do {
            try first.removeJournal()
        } catch {
            reportLeftover(of: first.paths, error)
        }
    }

    private func inside(_ paths: RestorePaths, since refusal: FileError) -> RestorePaths {
        context.note("\(refusal); it stays, and its content is replaced")
        return RestorePaths(live: paths.live, .inside)
    }

    /// Returns the error if it means that the system does not allow the stores directory to be renamed; `nil` for any
    /// other error.
    func renameRefusal(
        _ error: any Error,
        _ paths: RestorePaths,
        _ locks: RestoreLocks
    ) -> FileError? {
        guard paths.layout == .beside, locks.live != nil, let error = error as? FileError,
            error.forbidsRename
        else { return nil }
        return error
    }

    /// Extracted data that is checked and on the disk.
    struct StagedData {
        /// The number of stores in it.
        var stores: Int
        /// Files that rows refer to and that are missing; searched for only without a manifest.
        var problems: [Problem] = []
        /// The facts about the stores; `nil` if the manifest already has them.
        var facts: [StoreFacts]?
    }

    /// Extracts into the staged directory and checks it.
    ///
    /// A part is extracted on a separate thread, which may wait for data to be fetched.
    func filled(_ paths: RestorePaths, with plan: RestorePlan) async throws -> StagedData {
        guard plan.part != nil else { return try fill(paths, with: plan) }
        return try await WorkThread.run { try fill(paths, with: plan) }
    }

    /// Extracts into the staged directory and checks it.
    func fill(_ paths: RestorePaths, with plan: RestorePlan) throws -> StagedData {
        let directory = try Directory.open(paths.new)
        let archived = plan.archived
        let rules = try rules(for: archived, replacing: paths.live)
        let flush = try context.extract(
            archived,
            only: plan.part?.content,
            into: directory,
            by: rules
        )
        defer { flush.close() }
        let search =
            archived.isDescribed
            ? nil : try ExternalDataSearch(in: StoresDirectory(paths.new), context)
        defer { search?.close() }
        var staged = StagedData(stores: try checkStaged(paths.new))
        if let search {
            staged.problems = try search.finish().filter {
                // A part may refer to a file that is still in the live directory.
                guard plan.part != nil, let path = RelativePath(printed: $0.path) else {
                    return true
                }
                return try FileInfo.inside(paths.live, path) == nil
            }
            staged.facts = try search.facts()
        }
        try flush.wait()
        if plan.part == nil { try copyAttributes(to: directory, from: paths, archived) }
        try directory.sync()
        try fileSystem.sync(paths.area)
        return staged
    }

    /// Returns the rules for owners and modes of files that replace those in a directory.
    ///
    /// If the owners differ, reports which owners the files get.
    ///
    /// - Throws: `FileError`.
    func rules(for backup: ArchivedBackup, replacing live: FilePath) throws -> AttributeRules {
        var rules = AttributeRules(keepingSetID: options.keepsSetID || backup.isTrusted)
        guard let present = try PresentOwners(of: live, replacedBy: backup) else { return rules }
        let isOverruled = options.takesOwnerNumbers && backup.header?.root != nil
        context.note(present.remark(isOverruled: isOverruled))
        if !isOverruled { rules.owner = present.owner }
        return rules
    }

    /// Throws `RestoreError.noStores` if stores exist now but none was staged: the archive is then hardly a backup of
    /// them.
    func refuseWithoutStores(
        _ staged: StagedData,
        of plan: RestorePlan,
        replacing live: FilePath
    ) throws {
        guard plan.part == nil, staged.stores == 0, !options.allowsNoStores,
            let present = try? StoresDirectory(live).survey(
                leavingOut: .matches(plan.archived.exclusions())
            ), !present.stores.isEmpty
        else { return }
        throw RestoreError.noStores(backup: plan.name, live)
    }

    /// Checks the stores extracted into a directory, and returns their number.
    func checkStaged(_ path: FilePath) throws -> Int {
        context.report(.began(.checking, total: nil))
        return try StoresDirectory(path).checkStores(
            options.check,
            isStrict: options.isStrict,
            context,
            remark: context.note,
            tolerating: tolerate
        )
    }

    func tolerate(_ error: StoreError) throws {
        guard options.allowsDamage else { throw error }
        context.note("\(error), and restored anyway")
    }

    /// Keeps the mode and owner of the stores directory itself; a new directory gets those in the backup.
    private func copyAttributes(
        to directory: Directory,
        from paths: RestorePaths,
        _ archived: ArchivedBackup
    ) throws {
        if let info = try FileInfo.ifPresent(paths.live) {
            if AttributeRules.mayGiveAway {
                let saved = options.takesOwnerNumbers ? archived.header?.root : nil
                try directory.setOwner(saved?.uid ?? info.owner, group: saved?.gid ?? info.group)
            }
            try directory.setAttributes(mode: info.mode, modified: info.modified)
        } else if let root = archived.header?.root, let mode = UInt16(root.mode, radix: 8) {
            if AttributeRules.mayGiveAway { try directory.setOwner(root.uid, group: root.gid) }
            try directory.setAttributes(mode: mode & 0o7777, modified: directory.info().modified)
        }
    }
}
