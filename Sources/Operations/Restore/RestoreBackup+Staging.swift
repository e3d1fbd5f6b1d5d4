internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

extension RestoreBackup {
    /// Announces a restore and makes the directory to stage in: inside the stores directory if nothing may
    /// be made beside it.
    ///
    /// - Returns: the swap, with an empty directory to stage in.
    /// - Throws: `RestoreError.inTheWay`, `FileError`; nothing is left then.
    func stage(
        _ plan: ArchivedBackup,
        _ paths: RestorePaths,
        _ locks: RestoreLocks,
        isApplicationStopped: Bool? = nil
    ) throws -> any RestoreSwap {
        try paths.makeRoom(
            settingAside: options.setsAsideLeftovers,
            with: fileSystem,
            note: context.note
        )
        var swap = try paths.layout.swap.init(paths, backup: plan.name, with: fileSystem)
        if options.allowsDamage { swap.journal.allowsDamage = true }
        swap.journal.isApplicationStopped = isApplicationStopped
        swap.journal.part = part?.part
        do {
            try swap.stage()
            return swap
        } catch {
            end(&swap)
            guard let refusal = renameRefusal(error, paths, locks) else { throw error }
            return try stage(
                plan,
                inside(paths, since: refusal),
                locks,
                isApplicationStopped: isApplicationStopped
            )
        }
    }

    /// Stages once more, inside the stores directory.
    ///
    /// At any moment one of the two restore journals says that the application is stopped, if it is.
    func stageInside(
        _ swap: inout any RestoreSwap,
        _ plan: ArchivedBackup,
        _ locks: RestoreLocks,
        since refusal: FileError
    ) throws {
        let first = swap
        swap = try stage(
            plan,
            inside(first.paths, since: refusal),
            locks,
            isApplicationStopped: first.journal.isApplicationStopped
        )
        do {
            try first.removeJournal()
        } catch {
            tellLeftover(of: first.paths, error)
        }
    }

    private func inside(_ paths: RestorePaths, since refusal: FileError) -> RestorePaths {
        context.note("\(refusal); it stays, and what is in it is replaced")
        return RestorePaths(live: paths.live, .inside)
    }

    /// Returns an error by which a system says that the stores directory has to stay where it is; `nil`
    /// for another.
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

    /// Data that is extracted, checked and on the disk.
    struct StagedData {
        /// How many stores are in it.
        var stores: Int
        /// Files that rows refer to and that are not in it; looked for if no manifest tells.
        var problems: [Problem] = []
        /// The stores, if no manifest has told them before.
        var facts: [StoreFacts]?
    }

    /// Extracts into the staged directory and checks it; a part on a thread of its own, where it may wait for
    /// what is fetched.
    func filled(_ paths: RestorePaths, with plan: ArchivedBackup) async throws -> StagedData {
        guard part != nil else { return try fill(paths, with: plan) }
        return try await WorkThread.run { try fill(paths, with: plan) }
    }

    /// Extracts into the staged directory and checks it.
    func fill(_ paths: RestorePaths, with plan: ArchivedBackup) throws -> StagedData {
        let directory = try Directory.open(paths.new)
        let flush = try context.extract(plan, only: part?.content, into: directory)
        defer { flush.close() }
        let search =
            plan.isDescribed
            ? nil : try ExternalDataSearch(in: StoresDirectory(paths.new), context)
        defer { search?.close() }
        var staged = StagedData(stores: try checkStaged(paths.new))
        if let search {
            staged.problems = try search.finish().filter {
                // A part may find it in its place.
                guard part != nil, let path = try? RelativePath($0.path) else { return true }
                return try FileInfo.inside(paths.live, path) == nil
            }
            staged.facts = try search.facts()
        }
        try flush.wait()
        if part == nil { try copyAttributes(to: directory, from: paths, plan) }
        try directory.sync()
        try fileSystem.sync(paths.area)
        return staged
    }

    /// Throws `RestoreError.noStores` if there are stores now, and none was staged: the archive is hardly
    /// one of them.
    func refuseWithoutStores(
        _ staged: StagedData,
        of plan: ArchivedBackup,
        replacing live: FilePath
    ) throws {
        guard part == nil, staged.stores == 0, !options.allowsNoStores,
            let present = try? StoresDirectory(live).survey(
                leavingOut: .matches(plan.exclusions())
            ), !present.stores.isEmpty
        else { return }
        throw RestoreError.noStores(backup: plan.name, live)
    }

    /// Checks the stores that were extracted into a directory, and returns their number.
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
        context.note("\(error), and restored all the same")
    }

    /// Keeps the mode and owner of the stores directory itself; a new one gets those of the backup.
    private func copyAttributes(
        to directory: Directory,
        from paths: RestorePaths,
        _ plan: ArchivedBackup
    ) throws {
        if let info = try FileInfo.ifPresent(paths.live) {
            if ArchivedBackup.mayGiveAway { try directory.setOwner(info.owner, group: info.group) }
            try directory.setAttributes(mode: info.mode, modified: info.modified)
        } else if let root = plan.header?.root, let mode = UInt16(root.mode, radix: 8) {
            if ArchivedBackup.mayGiveAway { try directory.setOwner(root.uid, group: root.gid) }
            try directory.setAttributes(mode: mode & 0o7777, modified: directory.info().modified)
        }
    }
}
