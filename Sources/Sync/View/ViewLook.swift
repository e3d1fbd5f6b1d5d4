internal import Changes
internal import Files
internal import Stores

/// A look at what a store has to show, of the rows that may not be as they were.
struct ViewLook {
    /// The most rows of a part that is not compared with all.
    private static let smallPart = 1_000

    private let tables: [TableMapping]
    private let access: SidecarAccess
    private let blobs: BlobCache
    private let finder: RowFinder

    init(
        _ tables: [TableMapping],
        _ access: SidecarAccess,
        _ blobs: BlobCache,
        _ finder: RowFinder
    ) {
        self.tables = tables
        self.access = access
        self.blobs = blobs
        self.finder = finder
    }

    /// Computes the view of what was altered and of what depends on it; of everything, if that is most of
    /// all, or if no view was computed by this schema.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func view() throws -> StoreView {
        let ground = try TrialGround(tables, LocalKeys(access))
        guard try access.bytes("view") == signature else { return try all(ground) }
        var part = try ViewPart(of: access.altered(), tables, access, finder)
        while try !part.isOpen && !isMost(part) {
            let view = try StoreView(of: part, ground, access, blobs)
            if try !part.grow(by: view, ground.mirror, finder) && !part.isOpen { return view }
        }
        return try all(ground)
    }

    private func all(_ ground: TrialGround) throws -> StoreView {
        try StoreView(of: ViewPart(all: tables, access), ground, access, blobs)
    }

    private func isMost(_ part: ViewPart) throws -> Bool {
        guard part.ids.count > Self.smallPart else { return false }
        return try Int64(part.ids.count) * 2 > access.count("SELECT count(*) FROM row")
    }

    /// Keeps what a view says besides what is to be written.
    ///
    /// - Throws: `SidecarError`.
    func keep(_ view: StoreView) throws {
        try access.keep(view.held, view.ties, of: view.part.isAll ? nil : view.part.ids)
        try access.clearAltered()
        try access.set("view", bytes: signature)
    }

    /// Holds a plan that was made of a part to that of everything.
    ///
    /// - Throws: `SidecarError.damaged` if they differ.
    func compare(_ plan: WritePlan, of view: StoreView) throws {
        guard !view.part.isAll else { return }
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
            // Of several reasons, chance tells one.
            let isParent = held.why == .parent
            let other = isParent ? "" : held.other?.description ?? ""
            return "held: \(held.table) \(held.id) \(held.why) \(other)"
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

    /// Stands for all that a view depends on besides the rows.
    private var signature: [UInt8] {
        var lines: [String] = ["view 1"]
        for table in tables {
            lines.append("\(table.name) \(table.schema.canonicalText)")
            for column in table.columns {
                let parent = column.parent?.description ?? ""
                lines.append("\(column.name) \(column.place) \(parent) \(column.holdsFiles)")
                lines.append(column.entities?.text ?? "")
            }
            for reference in table.references {
                lines.append("\(reference)")
            }
        }
        let digest = Array(lines.joined(separator: "\n").utf8).withUnsafeBytes { Digest(of: $0) }
        return digest.bytes
    }
}

extension EntityNumbers {
    fileprivate var text: String {
        names.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " ")
    }
}
