internal import Files

/// A collector of rows for a change file, a bundle or a baseline's part.
///
/// It holds its rows in memory until `finish`. Once it `isFull`, further rows belong in another file.
public struct ChangeFileWriter {
    /// The length of a body in bytes from which a file is full.
    public static let fullBytes = 4 << 20
    /// The number of rows from which a file is full.
    public static let fullRows = 16_384
    /// The length in bytes above which a value goes into a blob of its own.
    public static let maximumValue = 64 << 10
    /// The length in bytes above which a row's largest values go into blobs of their own.
    public static let maximumRow = 4 << 20

    private var tables: [TableName: TableRows] = [:]
    /// The number of rows added.
    public private(set) var rowCount = 0
    /// The greatest possible length of the body in bytes.
    public private(set) var bodyBound = 4

    public init() {}

    /// Whether the next row belongs in another file.
    public var isFull: Bool { rowCount >= Self.fullRows || bodyBound >= Self.fullBytes }

    public var isEmpty: Bool { rowCount == 0 }

    /// Adds a row; each row of a table may be added once.
    ///
    /// - Throws: `ChangeError.beyondLimit` if the row is too long (see `RowDelta.movingLongValues`), has no id, or
    ///   never existed.
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

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - header: its header; its clock should be near those of the stamps.
    ///   - kind: `changes` or `baselinePart`.
    ///   - deflate: the function that compresses the body; `nil` to leave it uncompressed.
    /// - Returns: the file's bytes and id.
    /// - Throws: `ChangeError.beyondLimit`; any error of `deflate`.
    public consuming func finish(
        _ header: ChangeHeader,
        kind: FileKind = .changes,
        deflate: Deflate? = nil
    ) throws -> WrittenFile {
        let body = try BodyWriter(tables, clock: header.clock).body(bound: bodyBound)
        return try Envelope.write(kind, header: header.encoded(), body: body, deflate: deflate)
    }
}

struct TableRows {
    private(set) var rows: [RowDelta] = []
    private var columns: Set<ColumnName> = []
    /// The columns of the last row.
    ///
    /// Most rows have the same columns as the one before.
    private var lastColumns: [ColumnName] = []
    private var isNew = true

    /// The columns of all rows, rising.
    var sortedColumns: [ColumnName] { columns.sorted() }

    /// Adds a row, and returns the number of bytes that its new names take.
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

// These loop over indices, since a loop over cells counts references and doubles the time of writing a file.
extension [Cell] {
    /// Returns whether the cells have exactly these columns, in this order.
    fileprivate func has(columns: [ColumnName]) -> Bool {
        guard count == columns.count else { return false }
        return withUnsafeBufferPointer { cells in
            for index in cells.indices where cells[index].column != columns[index] { return false }
            return true
        }
    }

    /// Returns whether all cells have the given stamp.
    func have(_ stamp: Stamp) -> Bool {
        withUnsafeBufferPointer { cells in
            for index in cells.indices where cells[index].stamp != stamp { return false }
            return true
        }
    }
}

extension RowDelta {
    /// The greatest number of bytes that the row takes in a body, without the names of its columns.
    public var encodedBound: Int {
        // This counts an id, a causal length, flags, three stamps and a count.
        let start = 17 + 5 + 1 + 3 * 18 + 2 + (hint?.encodedBound ?? 0)
        return state.cells.withUnsafeBufferPointer { cells in
            var bound = start
            for index in cells.indices { bound += 15 + cells[index].value.encodedBound }
            return bound
        }
    }

    /// Moves long values into blobs: those over 64 KiB, and the largest values of a row over 4 MiB.
    ///
    /// - Parameter store: the function that keeps the content of a blob.
    /// - Returns: the row, with references in place of the long values.
    /// - Throws: any error of `store`.
    public func movingLongValues(
        to store: (BlobReference, [UInt8]) throws -> Void
    ) rethrows -> RowDelta {
        var bound = encodedBound
        // No single value is longer than the bound of the row.
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
            let value = cell.value.marking(isText ? .longText(reference) : .longBlob(reference))
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
    /// The bytes of a text or a blob; `nil` for any other value.
    fileprivate var content: (bytes: [UInt8], isText: Bool)? {
        switch unmarked {
        case .text(let bytes): (bytes, true)
        case .blob(let bytes): (bytes, false)
        default: nil
        }
    }
}
