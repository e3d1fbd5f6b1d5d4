internal import Changes
internal import Stores

/// The rows whose own keys contain names of rows that have other names now: they are the same rows at other keys.
struct MovedNames {
    let access: SidecarAccess
    /// The captures of the tables that had rows before.
    let all: [TableCapture]

    /// Returns whether a table has changed rows, and whether the own keys of rows may contain their names.
    static func arePossible(in capture: TableCapture, _ tables: [TableMapping]) -> Bool {
        !capture.changed.isEmpty
            && tables.contains { table in
                !table.hasOwnIDs
                    && table.references.contains {
                        $0.isByValue && $0.table == capture.table.name
                    }
            }
    }

    /// Moves the rows below renamed rows in the shadow to the keys that SQLite gave them.
    ///
    /// - Parameter capture: the capture of the table with the renamed rows.
    /// - Returns: the captures of the moved rows, which have to be scanned.
    /// - Throws: `SidecarError`.
    func take(from capture: TableCapture) throws -> [TableCapture] {
        try move(below: capture, capture.changed.map { ($0.old.image, $0.image) })
    }

    private func move(
        below parent: TableCapture,
        _ renamed: [(old: RowImage, new: RowImage)]
    ) throws -> [TableCapture] {
        var found: [TableCapture] = []
        for child in all where child !== parent && !child.table.hasOwnIDs {
            let rows = ReferringRows(capture: child)
            for reference in child.table.references
            where reference.isByValue && reference.table == parent.table.name
                && rows.hasKey(with: reference)
            {
                let names = try names(by: reference, of: parent, renamed)
                let moved = names.isEmpty ? [] : try move(rows, reference, names)
                if moved.isEmpty { continue }
                found.removeAll { $0 === child }
                found.append(child)
                found += try move(below: child, moved).filter { below in
                    !found.contains { $0 === below }
                }
            }
        }
        return found
    }

    /// Returns the present names of renamed rows by the former ones.
    private func names(
        by reference: ViewSchema.Reference,
        of parent: TableCapture,
        _ renamed: [(old: RowImage, new: RowImage)]
    ) throws -> [[Value]: [RowImage.Part]] {
        let numbers = reference.targets.compactMap(parent.table.place).map { parent.numbers[$0] }
        var names: [[Value]: [RowImage.Part]] = [:]
        for (old, new) in renamed {
            let (was, now) = (try old.partsByColumn(), try new.partsByColumn())
            let former = numbers.compactMap { was[$0]?.stored?.wire }
            let present = numbers.compactMap { now[$0] }
            guard former.count == numbers.count, present.count == numbers.count,
                !former.contains(.null), !present.contains(.value(.null)),
                numbers.contains(where: { was[$0] != now[$0] })
            else { continue }
            names[reference.folded(former)] = present
        }
        return names
    }

    /// Moves the rows of a child, and hides those whose keys they get.
    private func move(
        _ child: ReferringRows,
        _ reference: ViewSchema.Reference,
        _ names: [[Value]: [RowImage.Part]]
    ) throws -> [(old: RowImage, new: RowImage)] {
        let (table, capture) = (child.table, child.capture)
        let places = reference.columns.compactMap(table.place)
        let numbers = places.map { capture.numbers[$0] }
        var moved: [(old: ShownRow, new: ShownRow)] = []
        try access.shadow.forEach(in: table.name) { row in
            var parts = try row.image.parts()
            let indexes = numbers.compactMap { number in parts.firstIndex { $0.column == number } }
            let former = indexes.compactMap { parts[$0].part.stored?.wire }
            guard former.count == places.count, let present = names[reference.folded(former)] else {
                return
            }
            for ((place, index), part) in zip(zip(places, indexes), present) {
                parts[index].part = table.columns[place].stored(part)
            }
            var new = row
            new.image = RowImage(parts)
            new.key = try child.key(of: new.image, else: row.key)
            if new.key != row.key { moved.append((row, new)) }
        }
        if moved.isEmpty { return [] }
        let ids = Set(moved.map(\.old.id))
        let displaced = try moved.compactMap { _, new in
            try access.shadow.id(at: new.key, in: table.name).flatMap { id in
                ids.contains(id) ? nil : try access.shadow.row(id)
            }
        }
        // Rows that were hidden before are not found again.
        let hidden = try capture.gone.filter { try access.shadow.row($0.id) == nil }
        try child.move(moved, displacing: displaced, in: access)
        capture.gone += hidden
        for id in ids { try access.dirty.markAltered(id) }
        return moved.map { ($0.old.image, $0.new.image) }
    }
}
