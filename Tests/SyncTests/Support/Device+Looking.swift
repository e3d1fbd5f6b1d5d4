import Changes
import Files
import Foundation
import GRDB
import Stores
import SystemPackage

@testable import Sync

extension Device {
    /// The kinds of the edits that lost and are listed, in the order in which they were found.
    var conflicts: [String] {
        get throws {
            try inspect { access in
                try access.rows("SELECT kind FROM conflict ORDER BY n").map { $0[0] }
            }
        }
    }

    /// The rows that the store does not show, or not whole.
    var unshown: [UnshownRow] {
        get throws {
            let sidecar = try Sidecar(in: sidecarPath)
            defer { try? sidecar.close() }
            return try sidecar.unshownRows()
        }
    }

    /// Returns what the store shows: by row, its values with references as row ids.
    func content() throws -> [String: [Value]] {
        try withTables { snapshot, tables, access in
            var content: [String: [Value]] = [:]
            for table in tables {
                var cursor = try snapshot.rows(of: table.schema, order: table.order)
                while try cursor.next() {
                    let id = try access.shadow.id(at: cursor.key, in: table.name)
                    if try id == nil && table.isNamed && table.hasNullName(cursor) { continue }
                    guard let id else {
                        content["\(table.name) \(cursor.key)"] = [.null]
                        continue
                    }
                    let state = try access.states.known(id)?.state
                    content["\(table.name) \(id)"] = try table.columns.map { column in
                        let value = try cursor.value(column.index)
                        guard let parent = column.parent,
                            state?.cell(column.name)?.value.isRow == true,
                            case .integer(let number) = KeyComparison.folded(value, .integer)
                        else { return value.wire }
                        return .row(try access.shadow.id(at: .rowID(number), in: parent) ?? .zero)
                    }
                }
            }
            return content
        }
    }

    /// Returns the values that named no row where they were written, and that the store has otherwise; and how many
    /// there are.
    func plainValues() throws -> (count: Int, changed: [String]) {
        try withTables { snapshot, tables, access in
            var (count, changed) = (0, [String]())
            for table in tables where !table.references.isEmpty {
                var cursor = try snapshot.rows(of: table.schema, order: table.order)
                while try cursor.next() {
                    guard let id = try access.shadow.id(at: cursor.key, in: table.name),
                        let state = try access.states.known(id)?.state
                    else { continue }
                    let places = table.plainPlaces(in: state)
                    for column in table.columns where places.contains(column.place) {
                        guard let cell = state.cell(column.name), cell.value != .null else {
                            continue
                        }
                        count += 1
                        let value = try cursor.value(column.index).wire
                        if value != cell.value.unmarked {
                            changed.append("\(table.name) \(id) \(value)")
                        }
                    }
                }
            }
            return (count, changed)
        }
    }

    /// Returns how many rows of the store are not as the view has them.
    func planned() throws -> Int {
        let sidecar = try Sidecar(in: sidecarPath)
        defer { try? sidecar.close() }
        return try withTables { snapshot, tables, access in
            let view = try StoreView(
                of: ViewPart(all: tables, access),
                TrialGround(tables, LocalKeys(access, try RowFinder(snapshot))),
                access,
                BlobCache(sidecar: sidecar, files: ExternalFiles(of: store))
            )
            return try WritePlan(view, access, acceptsChanges: true).steps.count
        }
    }

    private func withTables<Result>(
        _ body: (StoreSnapshot, [TableMapping], SidecarAccess) throws -> Result
    ) throws -> Result {
        let cut = try StoresCut(
            of: [store],
            scratchParent: root.appending("scratch"),
            busyTimeout: .seconds(1)
        )
        guard let snapshot = cut.members.first?.snapshot else { throw Killed() }
        return try withExtendedLifetime(cut) {
            try inspect { access in
                let schema = try SyncSchema(of: snapshot, rules: SchemaRules(access.membership.map))
                return try body(snapshot, TableMapping.mappings(of: schema.tables), access)
            }
        }
    }
}

extension TableMapping {
    /// Returns whether the row of a cursor has no name, so that it does not sync.
    fileprivate func hasNullName(_ cursor: borrowing TableCursor) throws -> Bool {
        cursor.columns.indices.contains { index in
            identifyingPlaces?.contains(cursor.columns[index]) == true
                && cursor.storageClass(index) == .null
        }
    }
}

extension SidecarAccess {
    /// The cells whose loss is listed.
    func listedCells() throws -> Set<CellKey> {
        var cells: Set<CellKey> = []
        for row in try rows("SELECT id, c FROM conflict WHERE c IS NOT NULL") {
            guard let id = RowID(bytes: row.bytes(0)) else { continue }
            cells.insert(CellKey(id: id, column: try column(row[1])))
        }
        return cells
    }
}
