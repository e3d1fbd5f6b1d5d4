public import Changes
public import Foundation
internal import Files
internal import GRDB
public import Stores

/// The result of taking something back.
public enum TakenConflict: Equatable, Sendable {
    case taken
    /// There is an entry, but it is none that a person has to settle, and that was not confirmed.
    case notAsked
    /// There is no such entry, or nothing of it can be taken.
    case nothing
    /// The row has no such column.
    case noColumn
    /// A number that was given for a reference names no row that is shown here.
    case noRow
    /// The row that a column names was deleted by this device's own store, so that its values are not kept.
    case noParent(column: String)
    /// The row itself was deleted by this device's own store, so that its other values are not kept.
    case deletedHere
    /// Another row has a value of it that only one may have, and no other value was given.
    case lacksValue
    /// A row that it belongs to is not shown; the number is that row's entry, which is to be taken first.
    case isBelow(entry: Int64?)
    /// The content of files or long values is not on this machine.
    case lacksContent(Set<BlobReference>)
}

/// A row that is taken back.
public struct TakenRow: Equatable, Sendable {
    /// The row's id, as `UnshownRow` has it.
    public var row: String
    public var table: String
    /// A text of the row by which a person may recognise it.
    public var title: String?
    /// Whether it was deleted or not shown before.
    public var isBack: Bool
    /// Whether it is deleted.
    public var isDeleted: Bool
    /// The columns that are edited, with their values.
    public var values: [String]

    /// Describes a row that is back, or what was edited of it.
    fileprivate init(
        _ delta: RowDelta,
        of table: TableName,
        from former: RowState?,
        _ access: SidecarAccess
    ) throws {
        self.table = table.description
        row = delta.id.description
        title = try access.states.title(of: delta.id)
        let wasShown = try former?.isAlive == true && access.shadow.has(delta.id)
        isBack = delta.state.isAlive && !wasShown
        isDeleted = !delta.state.isAlive
        values = try delta.state.cells.filter { !$0.column.isReserved }.map {
            "\($0.column) is '\(try $0.value.words(in: access))'"
        }
    }

    /// The row and what became of it, in words.
    public var description: String {
        if isBack { return "\(name) is back" }
        if isDeleted { return "\(name) is deleted" }
        return "\(name): \(values.joined(separator: ", "))"
    }

    /// Its table and title.
    public var name: String {
        "\(table)\(title.map { " '\($0)'" } ?? "")"
    }
}

extension Sidecar {
    /// Makes what lost, or was taken out of the store, a new edit of this device; the next exchange writes and sends
    /// it.
    ///
    /// A deleted row is inserted again with its last values, and so are the deleted rows that it belongs to, as far
    /// as this device had them.
    ///
    /// - Parameters:
    ///   - number: the entry's number.
    ///   - setting: new values by columns, as for a row whose key another row has; of a reference, the number that the
    ///     row it names has in this store.
    ///   - store: the store, beside which files may be; `nil` if there are none.
    ///   - all: whether it may be an entry that only the list of everything has.
    ///   - date: the time of the person's decision.
    ///   - program: the program and its version, as files name it.
    ///   - taken: a closure that is called with each row that is taken.
    /// - Returns: whether anything was taken.
    /// - Throws: `SidecarError`, `FileError`, `ChangeError`.
    public func takeConflict(
        _ number: Int64,
        setting: [String: String] = [:],
        of store: Store? = nil,
        all: Bool = true,
        at date: Date,
        program: String,
        taken: (TakenRow) -> Void = { _ in }
    ) throws -> TakenConflict {
        let now = date.milliseconds
        return try write { access in
            let listed = try access.row("SELECT id, c, kind FROM removed WHERE n = ?", [number])
            guard let id = listed.flatMap({ RowID(bytes: $0.bytes(0)) }),
                let known = try access.states.known(id)
            else { return .nothing }
            if try !all && !access.removed.isAsked(number) { return .notAsked }
            if try setting.isEmpty && access.removed.isAtAnotherKey(number) { return .nothing }
            var clock = try access.membership.clock
            let reading = clock.tick(now: now, modified: now)
            let stamp = Stamp(clock: reading, device: try access.membership.own)
            if known.state.isTombstone, try access.removed.lastCells(of: id).isEmpty {
                return .deletedHere
            }
            let numbers = try access.removed.numbers(with: number, of: known)
            var cells = try access.removed.lostCells(numbers, of: id, known.state, stamp)
            if let failure = try cells.set(setting, of: known, stamp, access) { return failure }
            cells = try access.removed.completed(cells, with: number, of: known, stamp)
            var taking = Taking(access, stamp)
            try taking.settle(listed?["kind"], listed?["c"], of: known, cells)
            if taking.deltas.isEmpty { return try taking.failure(of: id) }
            let file = Outgoing(access, outbox: outbox, clock: reading, wall: now, program: program)
            let content = TakenContent(sidecar: self, access: access, store: store, outgoing: file)
            let lacking = try content.send(taking.deltas)
            if !lacking.isEmpty { return .lacksContent(lacking) }
            for (table, delta) in taking.deltas {
                let delta = try delta.movingLongValues(to: file.keep)
                let former = try access.states.known(delta.id)?.state
                try access.states.join(delta, in: table)
                taken(try TakenRow(delta, of: table, from: former, access))
                try access.dirty.mark(delta.id)
                try file.add(delta, to: table)
            }
            try access.held.wake()
            try file.finish()
            try access.membership.setClock(clock)
            for number in numbers { try access.run("DELETE FROM removed WHERE n = ?", [number]) }
            if !known.state.isAlive { try access.removed.forget(id) }
            return .taken
        }
    }
}

/// The content of the files and long values of rows that a person takes back.
private struct TakenContent {
    let sidecar: Sidecar
    let access: SidecarAccess
    let store: Store?
    let outgoing: Outgoing

    /// Sends the content that went with the rows, or returns what of it is not on this machine.
    ///
    /// The container may have removed it, since no row referred to it.
    func send(_ deltas: [(table: TableName, delta: RowDelta)]) throws -> Set<BlobReference> {
        var lacking: Set<BlobReference> = []
        var found: [BlobReference: [UInt8]] = [:]
        let blobs = BlobCache(sidecar: sidecar)
        for (table, delta) in deltas {
            for cell in delta.state.cells {
                guard let reference = cell.value.reference else { continue }
                if let bytes = try content(reference, of: cell, in: table) {
                    found[reference] = bytes
                } else if try !blobs.has(reference) {
                    lacking.insert(reference)
                }
            }
        }
        if lacking.isEmpty { for (blob, bytes) in found { try outgoing.keep(blob, bytes) } }
        return lacking
    }

    private func content(
        _ reference: BlobReference,
        of cell: Cell,
        in table: TableName
    ) throws -> [UInt8]? {
        if let bytes = try KeptFiles(sidecar: sidecar).content(reference) { return bytes }
        guard case .file(let name, _) = cell.value, let store,
            let path = try? RelativePath(validating: name)
        else { return nil }
        let directory = try access.membership.map.files[table]?[cell.column]
        let file = RowFile(directory: directory, path: path, value: .null)
        let bytes = try ExternalFiles(of: store).read(file)
        return bytes?.withUnsafeBytes { Digest(of: $0) } == reference.digest ? bytes : nil
    }
}

extension Sidecar {
    /// Fetches content from a container, for a row that a person takes back.
    ///
    /// - Returns: whether anything is here now.
    /// - Throws: the container's error; `SidecarError`, `FileError`; any error of `check`.
    public func fetch(
        _ content: Set<BlobReference>,
        from container: Container,
        check: () throws -> Void
    ) async throws -> Bool {
        let fetched = try await BlobCache(sidecar: self).fetch(content, from: container, check)
        if let failure = fetched.failure { throw failure }
        return fetched.isAnyThere
    }
}

/// The edits that bring a row back, with the deleted rows that it belongs to.
private struct Taking {
    private let access: SidecarAccess
    private let stamp: Stamp
    private(set) var deltas: [(table: TableName, delta: RowDelta)] = []
    /// The column that names a deleted row whose values this device has not kept.
    private(set) var lacking: String?
    private var seen: Set<RowID> = []

    init(_ access: SidecarAccess, _ stamp: Stamp) {
        self.access = access
        self.stamp = stamp
    }

    /// Inserts a deleted row again, or edits one that is alive.
    mutating func take(_ row: KnownRow, _ cells: [Cell]) {
        seen.insert(row.id)
        var cells = cells
        // The row is itself again.
        if case .row? = row.state.cell(.same)?.value { cells.append(Cell(.same, stamp, .null)) }
        let state =
            row.state.inserted(at: stamp, cells: cells)
            ?? RowState(causalLength: row.state.causalLength, birth: nil, cells: cells)
        deltas.append((row.table, RowDelta(row.id, state)))
    }

    /// Adds the edits that an entry of the list stands for.
    mutating func settle(
        _ kind: String?,
        _ column: Int64?,
        of row: KnownRow,
        _ cells: [Cell]
    ) throws {
        if kind == Conflict.Kind.renamed.rawValue {
            guard let state = row.state.deleted(at: stamp) else { return }
            return deltas.append((row.table, RowDelta(row.id, state)))
        }
        if !cells.isEmpty { take(row, cells) }
        if cells.isEmpty, let column { try cutElsewhere(access.column(column), of: row) }
        try takeParents(of: row.table, row.state.cells + cells)
    }

    /// Returns the reason why nothing of a row is taken.
    func failure(of id: RowID) throws -> TakenConflict {
        if let lacking { return .noParent(column: lacking) }
        guard let held = try access.held.row(id) else { return .nothing }
        if held.hasSuccessor { return .lacksValue }
        var top = held
        var passed: Set<RowID> = [id]
        while top.why == .parent, let parent = try top.other.flatMap(access.held.row),
            passed.insert(parent.id).inserted
        {
            top = parent
        }
        return top.id == id ? .nothing : .isBelow(entry: try access.removed.entry(ofHeld: top.id))
    }

    /// Moves the row of a ring that names a given row out of it, so that the ring need not be cut at the given row.
    mutating func cutElsewhere(_ column: ColumnName, of row: KnownRow) throws {
        guard let meanings = try access.captured.columns else { return }
        let group = meanings.group(of: column, in: row.table)
        let reference = meanings.references(of: row.table).first {
            $0.table == row.table.description && $0.columns.contains(column.description)
        }
        let names = reference?.columns ?? [column.description]
        let values: [Value?] =
            reference?.targets.map { target in
                row.state.cells.first { $0.column.description == target }?.value.unmarked
            } ?? [.row(row.id)]
        for id in try CutRings(access: access).rows(with: row.id) {
            guard let other = try access.states.known(id), other.state.isAlive,
                other.table == row.table
            else { continue }
            let cells = Dictionary(
                other.state.cells.map { ($0.column.description, $0) },
                uniquingKeysWith: { $1 }
            )
            guard names.map({ cells[$0]?.value.unmarked }) == values else { continue }
            let edit = try group.union(names).compactMap { cells[$0] }.map { cell in
                guard let place = names.firstIndex(of: cell.column.description) else {
                    return Cell(cell.column, stamp, cell.value)
                }
                let shown = try shown(cell.column, of: row)
                if let shown, shown != values[place] { return Cell(cell.column, stamp, shown) }
                let itself = reference.map { cells[$0.targets[place]]?.value.unmarked } ?? .row(id)
                let value = try reference == nil ? root(cell.column, of: other) : itself ?? .null
                return Cell(cell.column, stamp, value)
            }
            return take(other, edit)
        }
    }

    /// Returns the value with which a row is shown; `nil` if it is a long one.
    private func shown(_ column: ColumnName, of row: KnownRow) throws -> Value? {
        let shown = try access.shadow.row(row.id)
        guard case .value(let value)? = try shown?.image.partsByColumn()[access.number(of: column)]
        else { return nil }
        if case .rowID(let number)? = shown?.key, value == .integer(number) { return .row(row.id) }
        return value.wire
    }

    /// Returns the number by which most rows of a row's table name no parent; the row itself if they name themselves.
    private func root(_ column: ColumnName, of row: KnownRow) throws -> Value {
        var counts: [Value: Int] = [:]
        try access.states.forEachAlive(in: row.table) { other in
            guard let value = other.state.cell(column)?.value.unmarked else { return }
            if value == .row(other.id) { counts[.row(row.id), default: 0] += 1 }
            if value.stored != nil { counts[value, default: 0] += 1 }
        }
        return counts.max { $0.value < $1.value }?.key ?? .row(row.id)
    }

    /// Inserts the deleted rows again that cells refer to, and those that these rows refer to.
    mutating func takeParents(of table: TableName, _ cells: [Cell]) throws {
        var waiting = [(table, cells)]
        while let (table, cells) = waiting.popLast() {
            for (column, id) in try parents(of: table, cells)
            where seen.insert(id).inserted {
                guard let parent = try access.states.known(id) else { continue }
                var cells = parent.state.cells
                if parent.state.isTombstone {
                    cells = try access.removed.lastCells(of: id).map {
                        Cell($0.column, stamp, $0.value)
                    }
                    if cells.isEmpty {
                        lacking = lacking ?? column
                        continue
                    }
                    take(parent, cells)
                }
                waiting.append((parent.table, cells))
            }
        }
    }

    /// Returns the rows that cells refer to, each with a column that names it.
    private func parents(
        of table: TableName,
        _ cells: [Cell]
    ) throws -> [(column: String, id: RowID)] {
        let values = Dictionary(cells.map { ($0.column.description, $0.value) }) { $1 }
        var found = values.compactMap { column, value -> (String, RowID)? in
            if case .row(let id) = value { return (column, id) }
            return value.namedRow.map { (column, $0) }
        }
        for reference in try access.captured.columns?.references(of: table) ?? [] {
            var named: [(column: ColumnName, value: Value)] = []
            for (column, target) in zip(reference.columns, reference.targets) {
                guard let value = values[column], value != .null, let name = ColumnName(target)
                else { break }
                if case .plain = value { break }
                named.append((name, value.unmarked))
            }
            guard named.count == reference.columns.count,
                let parent = TableName(reference.table)
            else { continue }
            let id = RowID(key: named.map { ($0.column, $0.value) }, in: parent)
            if try access.states.known(id) != nil {
                found.append((reference.columns[0], id))
            } else if let id = try access.removed.row(of: parent, with: named) {
                found.append((reference.columns[0], id))
            }
        }
        return found
    }
}

extension Value {
    /// Reads a value that a person has written, for a column that has another value of some kind.
    fileprivate init(_ text: String, like other: Value) {
        if text == "NULL" {
            self = .null
            return
        }
        switch other.unmarked {
        case .real:
            self = Double(text).map { .real($0) } ?? .text(Array(text.utf8))
        case .integer, .null:
            self = Int64(text).map { .integer($0) } ?? .text(Array(text.utf8))
        default: self = .text(Array(text.utf8))
        }
    }
}

extension [Cell] {
    /// Sets columns to values given as texts, which get the type of the present value.
    ///
    /// - Returns: the reason if that is not possible.
    fileprivate mutating func set(
        _ values: [String: String],
        of row: KnownRow,
        _ stamp: Stamp,
        _ access: SidecarAccess
    ) throws -> TakenConflict? {
        let map = try access.membership.map
        let rules = map.tables.first { ($0.value.was ?? $0.key) == row.table }?.value
        for (name, text) in values {
            let cells = self + row.state.cells
            // The store's own name counts, before the one by which the column travels.
            let own = ColumnName(name)
            let column = own.map { rules?.renamed[$0] ?? $0 }
            guard let old = cells.first(where: { $0.column == column }) else { return .noColumn }
            var value = Value(text, like: old.value)
            // Another device has the named row at another number.
            if let parent = try access.captured.columns?.parent(of: old.column, in: row.table),
                let parent = TableName(parent), text != "NULL"
            {
                guard let number = Int64(text),
                    let id = try access.shadow.id(at: .rowID(number), in: parent)
                else { return .noRow }
                value = .row(id)
            }
            removeAll { $0.column == old.column }
            append(Cell(old.column, stamp, value))
        }
        return nil
    }
}
