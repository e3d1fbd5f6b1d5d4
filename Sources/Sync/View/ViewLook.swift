internal import Changes
internal import Files
internal import GRDB
internal import Stores

/// The computation of a store's view, for the rows that may have changed.
struct ViewLook {
    /// The greatest size of a part that is computed without a comparison with the number of all rows.
    private static let smallPart = 1_000
    /// The greatest number of rows that are computed and written at once, and the size of the parts if there are
    /// more.
    static let mostRows = 40_000
    static let partRows = 20_000
    /// The greatest number of times that a part of more rows grows by what its view shows.
    private static let mostRounds = 16

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

    /// Computes the view of the altered rows and of those that depend on them, or of all rows if those are most.
    ///
    /// If there are very many, it computes a part, including the parents; the next look computes the rest.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func view() throws -> StoreView {
        let ground = try TrialGround(tables, LocalKeys(access, finder))
        let isNew = try access.dirty.takeView(of: tables)
        let isLong = try access.dirty.hasAltered(moreThan: mostRows)
        if isNew, !isLong { return try all(ground) }
        let altered = try isLong ? access.dirty.altered(limit: partRows) : access.dirty.altered()
        var part = try ViewPart(
            of: altered.union(access.held.late()),
            isLimited: isLong,
            tables,
            access,
            finder
        )
        for round in 1... {
            if try part.isOpen || !isLong && isMost(part) { break }
            let view = try StoreView(of: part, ground, access, blobs)
            if try !part.grow(by: view, ground.mirror, finder) && !part.isOpen { return view }
            // Rows that were renumbered want each other's places: each round would add one.
            if isLong, round == Self.mostRounds {
                try part.widen(to: access.dirty.altered(), finder)
            }
        }
        return try all(ground)
    }

    /// Throws if very many rows would be computed in parts, and most rows of a table would be deleted.
    ///
    /// - Throws: `SyncDecision.manyDeletions`, `SidecarError`.
    func guardDeletions() throws {
        guard try access.dirty.hasAltered(moreThan: mostRows) else { return }
        try access.dirty.guardDeletions(of: tables)
    }

    private func all(_ ground: TrialGround) throws -> StoreView {
        try StoreView(of: ViewPart(all: tables, access), ground, access, blobs)
    }

    private func isMost(_ part: ViewPart) throws -> Bool {
        guard part.ids.count > Self.smallPart else { return false }
        return try Int64(part.ids.count) * 2 > access.states.count
    }

    /// Records the held rows and ties of a view, and the rows that were looked at.
    ///
    /// - Throws: `SidecarError`.
    func keep(_ view: StoreView, _ plan: WritePlan) throws {
        let ids = view.part.isAll ? nil : view.part.ids
        try access.held.keep(view.held, view.ties, view.emptied, of: ids)
        try access.dirty.looked(at: ids, planned: Set(plan.steps.map(\.id)))
    }

    /// Compares the plan for a part with the plan for all rows.
    ///
    /// - Throws: `SidecarError.damaged` if they differ.
    func compare(_ plan: WritePlan, of view: StoreView) throws {
        // Of many parts, only the last leads to the same result as all rows.
        if view.part.isAll { return }
        if try access.dirty.isUnfinished(but: Set(plan.steps.map(\.id))) { return }
        // New rows have the same keys in both.
        let full = try all(try TrialGround(tables, view.keys))
        let other = try WritePlan(full, access, acceptsChanges: true)
        // A file may have changed beside a row that has not.
        func texts(_ plan: WritePlan) -> Set<String> {
            Set(
                plan.steps.map {
                    "\($0.table.name) \($0.id) \($0.key) \($0.causalLength) \($0.new?.bytes ?? [])"
                } + plan.waiting.keys.filter(view.part.ids.contains).map { "waits: \($0)" }
            )
        }
        func text(_ held: HeldRow) -> String {
            // If there are several reasons, either may be recorded. Content that was fetched for a row may be gone
            // again.
            let why = held.why == .blob ? .parent : held.why
            let other = why == .parent ? "" : held.other?.description ?? ""
            return "held: \(held.table) \(held.id) \(why) \(other)"
        }
        var kept: Set<String> = []
        // The plan has the rows that wait, and some of them may be of an earlier part.
        try access.held.forEach { if $0.isOfView { kept.insert(text($0)) } }
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

extension DirtyRows {
    /// Throws if most rows of a table were deleted elsewhere, and are still shown.
    ///
    /// - Throws: `SyncDecision.manyDeletions`, `SidecarError`.
    func guardDeletions(of tables: [TableMapping]) throws {
        for table in tables {
            let deletions = try access.count(
                """
                SELECT count(*) FROM dirty CROSS JOIN row ON row.id = dirty.id
                WHERE t = ? AND h IS NOT NULL AND cl > 0 AND cl % 2 = 0
                """,
                [access.number(of: table.name)]
            )
            let count = deletions < 20 ? 0 : try access.shadow.count(in: table.name)
            if deletions >= 20, deletions * 2 > count {
                throw SyncDecision.manyDeletions(
                    table: table.schema.name,
                    rows: deletions,
                    of: count
                )
            }
        }
    }

    /// Marks all rows as altered if the tables are not those of the last view.
    ///
    /// - Returns: whether they are others.
    @discardableResult
    func takeView(of tables: [TableMapping]) throws -> Bool {
        guard try access.bytes("view") != tables.viewSignature else { return false }
        try alterAll()
        try access.set("view", bytes: tables.viewSignature)
        return true
    }
}

extension [TableMapping] {
    /// A digest of everything that a view depends on, except the rows.
    var viewSignature: [UInt8] {
        var lines: [String] = ["view 2"]
        for table in self {
            lines.append("\(table.name) \(table.schema.canonicalText)")
            for column in table.columns {
                let parent = column.parent?.description ?? ""
                lines.append(
                    "\(column.name) \(column.place) \(parent) \(column.files?.description ?? "")"
                )
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
