internal import Files

/// Rows on their way into a change file, a bundle or a baseline's part.
///
/// It holds its rows in memory until `finish`. Once it `isFull`, the next rows belong in another file.
public struct ChangeFileWriter {
    /// Bytes of a body from which on a file is full.
    public static let fullBytes = 8 << 20
    /// Rows from which on a file is full.
    public static let fullRows = 65_536
    /// Values of more bytes than this are in blobs of their own.
    public static let maximumValue = 64 << 10
    /// Rows of more bytes than this have their largest values in blobs of their own.
    public static let maximumRow = 4 << 20

    private var tables: [TableName: TableRows] = [:]
    /// Rows that were added.
    public private(set) var rowCount = 0
    /// Bytes of the body, at most.
    public private(set) var bodyBound = 4

    public init() {}

    /// Whether the next row belongs in another file.
    public var isFull: Bool { rowCount >= Self.fullRows || bodyBound >= Self.fullBytes }

    public var isEmpty: Bool { rowCount == 0 }

    /// Adds a row; one of a table may be added once.
    ///
    /// - Throws: `ChangeError.beyondLimit` if it is too long: see `RowDelta.movingLongValues`.
    public mutating func add(_ row: RowDelta, to table: TableName) throws {
        guard row.state.causalLength > 0, !row.id.isZero else {
            throw ChangeError.beyondLimit("a row of '\(table)' has no id, or was never there")
        }
        let bound = row.encodedBound
        guard bound <= Self.maximumRow + 4096 * 128 else {
            throw ChangeError.beyondLimit("a row of '\(table)' is over 4 MiB")
        }
        bodyBound += bound + tables[table, default: TableRows()].add(row, named: table)
        rowCount += 1
    }

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - header: its header; its clock should be near those of the stamps.
    ///   - kind: `changes` or `baselinePart`.
    ///   - deflate: how the body is made smaller; nothing to leave it as it is.
    /// - Returns: its bytes and its id.
    /// - Throws: `ChangeError.beyondLimit`; what `deflate` throws.
    public consuming func finish(
        _ header: ChangeHeader,
        kind: FileKind = .changes,
        deflate: Deflate? = nil
    ) throws -> WrittenFile {
        let body = try BodyWriter(tables, clock: header.clock).body(bound: bodyBound)
        return try Envelope.write(kind, header: header.encoded(), body: body, deflate: deflate)
    }
}

/// The rows of one table.
struct TableRows {
    private(set) var rows: [RowDelta] = []
    private var columns: Set<ColumnName> = []
    /// The columns of the last row: most rows have the same.
    private var lastColumns: [ColumnName] = []
    private var isNew = true

    /// The columns of all rows, rising.
    var sortedColumns: [ColumnName] { columns.sorted() }

    /// Adds a row, and returns how many bytes the names that are new take.
    mutating func add(_ row: RowDelta, named name: TableName) -> Int {
        var bytes = isNew ? name.bytes.count + 10 : 0
        isNew = false
        rows.append(row)
        if row.state.cells.has(columns: lastColumns) { return bytes }
        lastColumns = row.state.cells.map(\.column)
        for column in lastColumns where columns.insert(column).inserted {
            bytes += column.bytes.count + 3
        }
        return bytes
    }
}

// Loops over places, and not over cells, do not count references: half the time of writing a file.
extension [Cell] {
    /// Whether these are its columns.
    fileprivate func has(columns: [ColumnName]) -> Bool {
        guard count == columns.count else { return false }
        return withUnsafeBufferPointer { cells in
            for index in cells.indices where cells[index].column != columns[index] { return false }
            return true
        }
    }

    /// Whether all of them have a stamp.
    func have(_ stamp: Stamp) -> Bool {
        withUnsafeBufferPointer { cells in
            for index in cells.indices where cells[index].stamp != stamp { return false }
            return true
        }
    }
}

extension RowDelta {
    /// Bytes that it takes in a body, at most, without the names of its columns.
    public var encodedBound: Int {
        // An id, a length, flags, three stamps and a count.
        let start = 17 + 5 + 1 + 3 * 18 + 2 + (hint?.encodedBound ?? 0)
        return state.cells.withUnsafeBufferPointer { cells in
            var bound = start
            for index in cells.indices { bound += 15 + cells[index].value.encodedBound }
            return bound
        }
    }

    /// Moves long values out, as a file needs it: those of more than 64 KiB, and of a row over 4 MiB its
    /// largest.
    ///
    /// - Parameter store: keeps the content of a blob.
    /// - Returns: the row, which now names them only.
    /// - Throws: what `store` throws.
    public func movingLongValues(
        to store: (BlobReference, [UInt8]) throws -> Void
    ) rethrows -> RowDelta {
        var bound = encodedBound
        // None is longer than the bound of all.
        if bound <= ChangeFileWriter.maximumValue { return self }
        var cells = state.cells
        let order = cells.indices.sorted {
            cells[$0].value.encodedBound > cells[$1].value.encodedBound
        }
        for index in order {
            let cell = cells[index]
            let before = cell.value.encodedBound
            guard
                before > ChangeFileWriter.maximumValue
                    || bound > ChangeFileWriter.maximumRow,
                let (content, isText) = cell.value.content,
                content.count > ChangeFileWriter.maximumValue
                    || bound > ChangeFileWriter.maximumRow && before > 38
            else { continue }
            let digest = content.withUnsafeBytes { Digest(of: $0) }
            let reference = BlobReference(digest: digest, size: UInt64(content.count))
            try store(reference, content)
            let value = isText ? Value.longText(reference) : Value.longBlob(reference)
            cells[index] = Cell(cell.column, cell.stamp, value)
            bound += value.encodedBound - before
        }
        return RowDelta(
            id,
            RowState(
                unchecked: state.causalLength,
                birth: state.birth,
                deletion: state.deletion,
                cells: cells
            ),
            hint: hint
        )
    }
}

extension Value {
    /// The bytes of a text or a blob.
    fileprivate var content: (bytes: [UInt8], isText: Bool)? {
        switch self {
        case .text(let bytes): (bytes, true)
        case .blob(let bytes): (bytes, false)
        default: nil
        }
    }
}
