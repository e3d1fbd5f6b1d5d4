internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Stores
internal import SystemPackage

/// Writes one archive from one cut: the stores and their external data while the cut is held, then the
/// rest.
final class BackupWriter {
    let directory: StoresDirectory
    let context: OperationContext
    let plan: BackupPlan
    var isLastTry: Bool { plan.isLastTry }
    let folderIdentity: FileInfo.Identity?
    /// Bytes in all regular files, as far as the survey saw them.
    private let size: Int64
    /// The paths of stores and of SQLite's files beside them, which no walk adds.
    let storeFiles: Set<RelativePath>
    /// The stores of which the archive gets the content as of the cut.
    let cutStores: Set<RelativePath>
    /// What was left out when the cut was made.
    let leftOut: LeftOut
    private let manifest: ManifestWriter
    let archive: ArchiveWriter
    /// Leaves out what earlier backups have; `nil` if everything is written.
    let changes: ChangeWriter?
    /// How the files of the stores stood before the cut.
    private let standing: [RelativePath: String]
    private(set) var cut: BackupCut?
    /// The manifest's first line, once it is known.
    private var header: ManifestHeader?
    var problems: [Problem]
    /// Findings about the stores that are no problems.
    private var remarks: [String] = []
    /// Whether other threads read short files.
    var readsAhead = true
    var addedSupport: Set<RelativePath> = []
    var addedFiles: Set<RelativePath> = []
    var addedDirectories: Set<RelativePath> = []

    /// Prepares to write an archive into an empty file, which is the caller's to sync, or into a stream.
    init(
        of cut: consuming BackupCut,
        in directory: StoresDirectory,
        to sink: any ByteSink,
        _ plan: BackupPlan,
        _ context: OperationContext
    ) {
        self.directory = directory
        self.context = context
        self.plan = plan
        folderIdentity = plan.folder.identity
        size = cut.survey.size
        storeFiles = cut.storeFiles
        cutStores = Set(cut.members.map(\.store.path))
        leftOut = cut.survey.leftOut
        problems = cut.problems
        self.cut = cut
        let compression = plan.options.compression
        let manifest = ManifestWriter(
            modified: plan.options.date,
            compression: compression,
            in: plan.scratch
        )
        self.manifest = manifest
        standing = cut.standing
        let changes = plan.lineage.map { lineage in
            ChangeWriter(
                lineage.plan,
                lineage.state,
                telling: manifest,
                threads: context.threads,
                rereads: plan.options.increments?.rereads ?? false,
                warn: context.warn
            )
        }
        self.changes = changes
        archive = ArchiveWriter(to: sink, compression: compression, threads: context.threads) {
            try manifest.append($0)
            try changes?.take($0)
        }
        changes?.begin(archive)
    }

    /// Writes the archive.
    ///
    /// - Returns: the archive's manifest, as far as a caller needs it.
    /// - Throws: `CutAgain` if the archive would hold no state that ever was.
    func run() throws -> WrittenArchive {
        defer {
            changes?.close()
            archive.close()
        }
        context.report(.began(.reading, total: size))
        try addStores()
        // Writers in a rollback mode had to wait so far.
        cut = nil
        try walk(from: nil)
        try archive.drain()
        try addRefused()
        try changes?.finish()
        try archive.drain()
        let trailer = try manifest.finish(
            problems: problems,
            tally: changes.flatMap { $0.plan.isIncrement ? $0.tally : nil },
            tellsState: changes != nil
        )
        try archive.add(manifest.entry)
        let size = try archive.finish()
        remarks.forEach(context.note)
        tellLeftOut()
        context.tell(trailer.problems)
        guard let header else { preconditionFailure("a manifest has a header") }
        return WrittenArchive(size: size, header: header, trailer: trailer)
    }

    // MARK: - Under the cut

    private func addStores() throws {
        guard let cut else { return }
        // Only now that all transactions have begun: it takes time, and would pull the cut apart.
        let known = try KnownReports(of: cut.members, standing: standing, plan)
        let counting = StoreReports(
            of: cut.members,
            known: known?.reports ?? [:],
            checking: plan.options.checksStores ? .full : .none,
            isStrict: plan.options.isStrict,
            context
        )
        defer { counting.close() }
        for member in cut.members {
            try add(member)
            if manifest.isHeaderDue { _ = try beginManifest(cut, counting) }
        }
        for store in cut.damaged { try addDamaged(store) }
        let stores = try beginManifest(cut, counting)
        for (member, report) in stores { try known?.keep(report, of: member.store) }
        for (member, report) in stores {
            for finding in report.damage {
                note(.damagedStore, member.store.path, "SQLite finds it damaged: \(finding)")
            }
        }
        problems += header.flatMap(plan.anomalyGuard.problem).map { [$0] } ?? []
        let missing = try findMissingExternalFiles(of: stores)
        for (member, report) in stores {
            let needed = member.externalFiles(report).subtracting(missing)
            try addExternalData(of: member.store, needed: needed)
            remarks += report.remarks.map { "'\(member.store.path)': \($0)" }
        }
    }

    typealias KnownStore = (StoresCut.Member, StoreReport)

    private func beginManifest(_ cut: BackupCut, _ counting: StoreReports) throws -> [KnownStore] {
        do {
            let stores = Array(zip(cut.members, try counting.wait()))
            let root = try FileInfo(of: directory.path)
            var header = ManifestHeader(
                id: .random(),
                created: Timestamp.rfc3339(plan.options.date, in: plan.folder.timeZone),
                tool: plan.options.tool,
                reason: plan.options.reason,
                root: .init(mode: root.mode, owner: root.owner, group: root.group),
                stores: stores.map { $1.facts }
            )
            header.origin = StoresOrigin.of(directory.path)
            let exclusions = plan.options.exclusions
            plan.lineage?.plan.mark(&header)
            if !exclusions.isEmpty { header.excluded = Excluded(exclusions, leftOut) }
            plan.anomalyGuard.mark(&header, unreadable: cut.unreadableStores) {
                guard let path = try? RelativePath($0) else { return false }
                return (try? exclusions.excludes(path, in: directory.path)) ?? false
            }
            try manifest.begin(header)
            self.header = header
            return stores
        } catch StoreError.busy(let name) where !isLastTry {
            throw CutAgain(reason: "'\(name)' was locked")
        }
    }

    private func add(_ member: StoresCut.Member) throws {
        let snapshot = member.snapshot
        guard let info = try FileInfo.ifPresent(member.store.location) else {
            guard isLastTry else { throw CutAgain(reason: "'\(member.store.path)' was removed") }
            return note(.unreadable, member.store.path, "it was removed while it was backed up")
        }
        func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int {
            try advance { try snapshot.read(into: buffer, at: offset) }
        }
        let attributes = attributes(member.store.path, .file, info)
        // Only if it stood the same before the cut and in it, the snapshot is of what stood there.
        let before = standing[member.store.path]
        let isWhole = try addContent(
            of: attributes,
            size: snapshot.size,
            identity: before == member.store.standing(at: plan.options.date)
                ? before.map { "store \($0)" } : nil,
            isSnapshot: true,
            isStill: snapshot.isStill,
            read: read
        )
        guard isWhole else {
            throw CutAgain(reason: "'\(member.store.path)' was opened by an application")
        }
        // It may be the external data of another.
        addedFiles.insert(member.store.path)
    }

    /// Adds the database and its log as files: nothing else is there to save.
    private func addDamaged(_ store: Store) throws {
        let parent = try open(store.path.parent)
        for suffix in ["", "-wal", "-journal"] {
            let name = store.path.name.appending(suffix)
            let path = store.path.sibling(name)
            // A file that is not SQLite's own comes with all the others.
            guard storeFiles.contains(path), let info = try? parent.info(name),
                info.kind == .file
            else { continue }
            try addFile(WalkedFile(path: path, directory: parent, info: info))
        }
    }

    // MARK: - Telling

    func note(_ kind: Problem.Kind, _ path: RelativePath, _ reason: String) {
        problems.append(Problem(kind: kind, path: path.description, reason: reason))
    }

    /// Tells that bytes were read.
    func advance(_ body: () throws -> Int) throws -> Int {
        let count = try body()
        try context.advance(Int64(count))
        return count
    }
}
