internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Stores
internal import SystemPackage

/// A writer of one archive from one cut: first the stores and their external data, while the cut is held, then the
/// rest.
final class BackupWriter {
    let directory: StoresDirectory
    let context: OperationContext
    let plan: BackupPlan
    let folderIdentity: FileInfo.Identity?
    /// The size of all regular files in bytes, according to the survey.
    private let size: Int64
    /// The paths of stores and of SQLite's files beside them, which no walk adds.
    let storeFiles: Set<RelativePath>
    /// The stores whose content is added as of the cut.
    let cutStores: Set<RelativePath>
    /// The exclusions at the time of the cut.
    let leftOut: LeftOut
    private let manifest: ManifestWriter
    let archive: ArchiveWriter
    /// The writer that omits data of earlier backups; `nil` if everything is written.
    let changes: ChangeWriter?
    /// The disk state of the stores' files before the cut.
    private let standing: [RelativePath: String]
    private(set) var cut: BackupCut?
    /// The manifest's first line, once it is known.
    private var header: ManifestHeader?
    var problems: [Problem]
    /// The databases that SQLite does not read, with the reasons.
    var unopened: [(store: Store, error: (any Error)?)]
    /// The remarks about the stores that are no problems.
    private var remarks: [String] = []
    /// Whether other threads read short files.
    var readsAhead = true
    var addedSupport: Set<RelativePath> = []
    var addedFiles: Set<RelativePath> = []
    var addedDirectories: Set<RelativePath> = []
    var visited = VisitedEntries()

    /// Prepares to write an archive into a stream, or into an empty file that the caller must sync.
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
        if !plan.options.isSafety { problems += cut.survey.absentStores(in: directory) }
        unopened = cut.unopened
        self.cut = cut
        let compression = plan.options.compression
        let manifest = ManifestWriter(
            modified: plan.options.date,
            compression: compression,
            in: plan.scratch,
            waitingLimit: plan.options.headerWaits
        )
        self.manifest = manifest
        standing = cut.standing
        let changes = plan.lineage.map { lineage in
            ChangeWriter(
                lineage.plan,
                lineage.state,
                into: manifest,
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
    /// - Returns: the written archive, with the parts of its manifest that the caller needs.
    /// - Throws: `CutAgain` if the archive would contain a state that never existed.
    func run() throws -> WrittenArchive {
        defer {
            changes?.close()
            archive.close()
        }
        context.report(.began(.reading, total: size))
        try addStores()
        // Writers in a rollback mode had to wait until now.
        cut = nil
        for (store, error) in unopened { try addUnopened(store, since: error) }
        try walkAll()
        try archive.drain()
        try addRefused()
        try changes?.finish()
        try archive.drain()
        let trailer = try manifest.finish(
            problems: problems,
            tally: changes.flatMap { $0.plan.isIncrement ? $0.tally : nil },
            recordsState: changes != nil
        )
        let signature = try manifest.add(to: archive, signing: plan.folder.keys.signers)
        let size = try archive.finish()
        remarks.forEach(context.note)
        reportLeftOut()
        context.reportProblems(trailer.problems)
        guard let header else { preconditionFailure("a manifest has a header") }
        return WrittenArchive(
            size: size,
            header: header,
            trailer: trailer,
            signature: signature
        )
    }

    // MARK: - Under the cut

    private func addStores() throws {
        guard let cut else { return }
        // Start only after all transactions have begun: it takes time, and would spread the cut over that time.
        let known = try KnownReports(of: cut.members, standing: standing, plan)
        let counting = StoreReports(
            of: cut.members,
            known: known?.reports ?? [:],
            checking: plan.options.checksStores ? .full : .none,
            isLastTry: plan.isLastTry,
            isStrict: plan.options.isStrict,
            naming: plan.options.externalFiles,
            context
        )
        defer { counting.close() }
        var begun: [KnownStore]?
        for member in cut.members {
            do {
                try add(member)
            } catch let error as StoreError {
                unopened.append((member.store, error))
            }
            if manifest.isHeaderDue { begun = try beginManifest(cut, counting) }
        }
        let stores = try begun ?? beginManifest(cut, counting)
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
            remarks += report.otherValues
            for reason in report.unknownFiles { note(.unreadable, member.store.path, reason) }
        }
        for files in plan.options.externalFiles where !cutStores.contains(files.store) {
            note(.unreadable, files.store, "'\(files.text)': no such store can be read")
        }
    }

    typealias KnownStore = (StoresCut.Member, StoreReport)

    private func beginManifest(_ cut: BackupCut, _ counting: StoreReports) throws -> [KnownStore] {
        do {
            // Omit stores that are in the archive as files only: their facts would not be reliable.
            let files = Set(unopened.map(\.store.path))
            let stores = zip(cut.members, try counting.wait())
                .filter { !files.contains($0.0.store.path) }
            let root = try FileInfo(of: directory.path)
            var header = ManifestHeader(
                id: .random(),
                created: Timestamp.rfc3339(plan.options.date, in: plan.folder.timeZone),
                tool: plan.options.tool,
                reason: plan.options.reason,
                root: .init(mode: root.mode, owner: root.owner, group: root.group),
                stores: stores.map { $1.facts }
            )
            try plan.mark(&header)
            let exclusions = plan.options.exclusions
            if !exclusions.isEmpty { header.excluded = Excluded(exclusions, leftOut) }
            header.otherFiles = cut.otherFiles(in: directory)
            header.otherFiles?.exclusions = header.excluded?.key
            let sound = stores.filter { $1.damage.isEmpty }.map { $1.facts.path.exact }
            plan.anomalyGuard.mark(
                &header,
                unreadable: cut.unreadableStores.union(files.map(\.description.exact)),
                uncounted: Set(sound)
            ) {
                guard let path = try? RelativePath($0) else { return false }
                return (try? exclusions.excludes(path, in: directory.path)) ?? false
            }
            header.otherFiles = header.otherFiles?.limited()
            try manifest.begin(header)
            self.header = header
            return stores
        } catch StoreError.busy(let name) where !plan.isLastTry {
            throw CutAgain(reason: "'\(name)' was locked")
        }
    }

    private func add(_ member: StoresCut.Member) throws {
        let snapshot = member.snapshot
        guard let info = try FileInfo.ifPresent(member.store.location) else {
            guard plan.isLastTry else {
                throw CutAgain(reason: "'\(member.store.path)' was removed")
            }
            return note(.unreadable, member.store.path, "it was removed while it was backed up")
        }
        func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int {
            try advance { try snapshot.read(into: buffer, at: offset) }
        }
        let attributes = attributes(member.store.path, .file, info)
        // The disk state holds for the snapshot only if it was the same before the cut and is the same under it.
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
            guard plan.isLastTry else {
                throw CutAgain(
                    reason: "'\(member.store.path)' was opened or written by an application"
                )
            }
            throw StoreError.neverStill(member.store.path.description)
        }
        if let log = snapshot.damagedLog { try add(log, of: member.store) }
        // The store may be external data of another store.
        addedFiles.insert(member.store.path)
    }

    // MARK: - Reports

    func note(_ kind: Problem.Kind, _ path: RelativePath, _ reason: String) {
        problems.append(Problem(kind: kind, path: path.description, reason: reason))
    }

    /// Reports the bytes that a closure reads.
    func advance(_ body: () throws -> Int) throws -> Int {
        let count = try body()
        try context.advance(Int64(count))
        return count
    }
}
