internal import Changes
internal import Files
internal import Stores

/// A look at what a store has to show, of the rows that may not be as they were.
struct ViewLook {
    /// The most rows of a part that is not compared with all.
    private static let smallPart = 1_000
    /// The most rows that are looked at, and written, at once; more are in parts of so many.
    static let mostRows = 40_000
    static let partRows = 20_000

    private let tables: [TableMapping]
    private let access: SidecarAccess
    private let blobs: BlobCache
    private let finder: RowFinder
    private let mostRows: Int
    private let partRows: Int

    init(
        _ tables: [TableMapping],
        _ access: SidecarAccess,
        _ blobs: BlobCache,
        _ finder: RowFinder,
        mostRows: Int = Self.mostRows,
        partRows: Int = Self.partRows
    ) {
        self.mostRows = mostRows
        self.partRows = partRows
        self.tables = tables
        self.access = access
        self.blobs = blobs
        self.finder = finder
    }

    /// Computes the view of what was altered and of what depends on it; of everything, if that is most of
    /// all.
    ///
    /// Of very many rows it computes a part, whose parents are in it; what is left is the next look's.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func view() throws -> StoreView {
        let ground = try TrialGround(tables, LocalKeys(access, finder))
        let isNew = try access.bytes("view") != tables.viewSignature
        if isNew {
            try access.alterAll()
            try access.set("view", bytes: tables.viewSignature)
        }
        let isLong = try access.hasAltered(moreThan: mostRows)
        if isNew, !isLong { return try all(ground) }
        let altered = try isLong ? access.altered(limit: partRows) : access.altered()
        var part = try ViewPart(
            of: altered.union(access.late()),
            isLimited: isLong,
            tables,
            access,
            finder
        )
        while try !part.isOpen && (isLong || !isMost(part)) {
            let view = try StoreView(of: part, ground, access, blobs)
            if try !part.grow(by: view, ground.mirror, finder) && !part.isOpen { return view }
        }
        return try all(ground)
    }

    /// Refuses to look at very many rows by parts, if most of a table would go.
    ///
    /// - Throws: `SyncDecision.manyDeletions`, `SidecarError`.
    func guardDeletions() throws {
        guard try access.hasAltered(moreThan: mostRows) else { return }
        for table in tables {
            let deletions = try access.deletions(in: table.name)
            guard deletions >= 20 else { continue }
            let count = try access.shownCount(in: table.name)
            if deletions * 2 > count {
                throw SyncDecision.manyDeletions(
                    table: table.schema.name,
                    rows: deletions,
                    of: count
                )
            }
        }
    }

    private func all(_ ground: TrialGround) throws -> StoreView {
        try StoreView(of: ViewPart(all: tables, access), ground, access, blobs)
    }

    private func isMost(_ part: ViewPart) throws -> Bool {
        guard part.ids.count > Self.smallPart else { return false }
        return try Int64(part.ids.count) * 2 > access.rowCount
    }

    /// Keeps what a view says besides what is to be written, and which rows are.
    ///
    /// - Throws: `SidecarError`.
    func keep(_ view: StoreView, _ plan: WritePlan) throws {
        let ids = view.part.isAll ? nil : view.part.ids
        try access.keep(view.held, view.ties, of: ids)
        try access.looked(at: ids, planned: Set(plan.steps.map(\.id)))
    }

    /// Holds a plan that was made of a part to that of everything.
    ///
    /// - Throws: `SidecarError.damaged` if they differ.
    func compare(_ plan: WritePlan, of view: StoreView) throws {
        // Of many parts only the last is like everything.
        if view.part.isAll { return }
        if try access.isUnfinished(but: Set(plan.steps.map(\.id))) { return }
        // Rows that are new have the same keys in both.
        let full = try all(try TrialGround(tables, view.keys))
        let other = try WritePlan(full, access, acceptsChanges: true)
        func texts(_ plan: WritePlan) -> Set<String> {
            Set(
                plan.steps.map {
                    "\($0.table.name) \($0.id) \($0.key) \($0.causalLength) \($0.new?.bytes ?? [])"
                } + plan.waiting.map { "waits: \($0)" }
            )
        }
        func text(_ held: HeldRow) -> String {
            // Of several reasons, chance tells one; and what was fetched for a row is here no more.
            let why = held.why == .blob ? .parent : held.why
            let other = why == .parent ? "" : held.other?.description ?? ""
            return "held: \(held.table) \(held.id) \(why) \(other)"
        }
        var kept: Set<String> = []
        try access.forEachHeld { kept.insert(text($0)) }
        let (one, all) = (
            texts(plan).union(kept), texts(other).union(full.held.map(text))
        )
        guard one != all else { return }
        throw access.damaged(
            """
            the view of a part is not that of everything:
            too much: \(one.subtracting(all).sorted().prefix(6))
            too little: \(all.subtracting(one).sorted().prefix(6))
            """
        )
    }
}

extension [TableMapping] {
    /// Stands for all that a view depends on besides the rows.
    var viewSignature: [UInt8] {
        var lines: [String] = ["view 2"]
        for table in self {
            lines.append("\(table.name) \(table.schema.canonicalText)")
            for column in table.columns {
                let parent = column.parent?.description ?? ""
                lines.append("\(column.name) \(column.place) \(parent) \(column.holdsFiles)")
                lines.append(column.entities?.text ?? "")
            }
            for reference in table.references { lines.append("\(reference)") }
        }
        let digest = [UInt8](lines.joined(separator: "\n").utf8).withUnsafeBytes { Digest(of: $0) }
        return digest.bytes
    }
}

extension EntityNumbers {
    fileprivate var text: String {
        names.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " ")
    }
}
