internal import CSQLite

/// A text or a blob that is read in pieces (https://www.sqlite.org/c3ref/blob.html).
public struct LargeValue: ~Copyable {
    /// The length of the value in bytes.
    public let size: Int64
    private let blob: OpaquePointer
    private let database: OpaquePointer
    private let owner: AnyObject?
    private let name: String

    init(
        of table: TableSchema,
        column: Int,
        rowID: Int64,
        in database: OpaquePointer,
        owner: AnyObject?,
        name: String
    ) throws {
        var blob: OpaquePointer?
        let column = table.columns[column].name
        let code = sqlite3_blob_open(database, "main", table.name, column, rowID, 0, &blob)
        guard code == SQLITE_OK, let blob else {
            throw StoreError(name, code: code, of: database)
        }
        self.blob = blob
        self.database = database
        self.owner = owner
        self.name = name
        size = Int64(sqlite3_blob_bytes(blob))
    }

    deinit { sqlite3_blob_close(blob) }

    /// Reads from an offset until the buffer is full or the value ends.
    ///
    /// - Returns: the number of bytes read.
    /// - Throws: `StoreError`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = Int(min(Int64(buffer.count), max(0, size - offset)))
        guard count > 0 else { return 0 }
        let code = sqlite3_blob_read(blob, buffer.baseAddress, CInt(count), CInt(offset))
        guard code == SQLITE_OK else { throw StoreError(name, code: code, of: database) }
        return count
    }

    /// Reads the whole value into memory.
    public func bytes() throws -> StoredBytes {
        StoredBytes(
            try [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
                count = try read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            }
        )
    }

    /// Passes the value to `body` in pieces, until `body` returns `false`.
    public func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: TableCursor.largeSize,
            alignment: 16
        )
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < size {
            let count = try read(into: buffer, at: offset)
            guard try body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
            offset += Int64(count)
        }
    }

    func hasSameBytes(as other: borrowing LargeValue) throws -> Bool {
        guard size == other.size else { return false }
        var isSame = true
        var offset: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: TableCursor.largeSize,
            alignment: 16
        )
        defer { buffer.deallocate() }
        while isSame, offset < size {
            let piece = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<(buffer.count / 2)]
            )
            let otherPiece = UnsafeMutableRawBufferPointer(
                rebasing: buffer[(buffer.count / 2)...]
            )
            let count = try read(into: piece, at: offset)
            let otherCount = try other.read(into: otherPiece, at: offset)
            isSame =
                UnsafeRawBufferPointer(rebasing: piece[..<count])
                .compare(with: UnsafeRawBufferPointer(rebasing: otherPiece[..<otherCount])) == 0
            offset += Int64(count)
        }
        return isSame
    }

    func hasBytes(_ bytes: UnsafeRawBufferPointer) throws -> Bool {
        guard size == bytes.count else { return false }
        var isSame = true
        var offset = 0
        try forEachPiece { piece in
            let other = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + piece.count)])
            isSame = piece.compare(with: other) == 0
            offset += piece.count
            return isSame
        }
        return isSame
    }
}

extension TableSchema {
    /// Returns whether a column's values can be opened, to be read in pieces.
    ///
    /// Computed values are not stored. If an earlier column is computed on reading, SQLite opens another column's
    /// value, at least up to 3.40.
    fileprivate func canOpenValues(inColumn place: Int) -> Bool {
        columns[place].kind == .stored && !columns[..<place].contains { $0.kind == .generated }
    }
}

/// A row with values too large to be read at once: it has the other values, and the sizes of the large ones.
final class LargeRow {
    struct Cell {
        enum Bytes: Equatable {
            /// The bytes are a part of the row's buffer.
            case part(Range<Int>)
            case large
        }

        var storageClass: StorageClass
        /// The integer, or the bits of a floating-point number.
        var integer: Int64 = 0
        var bytes: Bytes = .part(0..<0)
        var size: Int64 = 0
    }

    let rowID: Int64
    private(set) var cells: [Cell] = []
    private var buffer: UnsafeMutableRawBufferPointer

    /// Reads the first row of a range.
    init(
        of table: TableSchema,
        _ columns: [Int],
        in database: OpaquePointer,
        name: String,
        within rowIDs: ClosedRange<Int64>
    ) throws {
        let statement = try Statement(database, name: name, Self.query(of: table, columns))
        try statement.bind(rowIDs.lowerBound, at: 1)
        try statement.bind(rowIDs.upperBound, at: 2)
        guard try statement.step() else {
            throw StoreError.damaged(name, reason: "a row of '\(table.name)' is not found again")
        }
        rowID = statement.integer(0)
        buffer = .allocate(byteCount: 0, alignment: 16)
        var bytes: [UInt8] = []
        for (index, place) in columns.enumerated() {
            let (typed, valued) = (CInt(1 + 2 * index), CInt(2 + 2 * index))
            var cell = Cell(storageClass: statement.storageClass(valued))
            let type = statement.text(typed)
            func keep(_ found: some Collection<UInt8>) {
                cell.bytes = .part(bytes.count..<bytes.count + found.count)
                cell.size = Int64(found.count)
                bytes += found
            }
            if let value = try Self.missingValue(
                at: place,
                of: table,
                typeof: type,
                rowID: rowID,
                in: database,
                name: name
            ) {
                cell.storageClass = value.storageClass
                keep(value.bytes)
            } else if type == "text" || type == "blob" {
                cell.storageClass = type == "text" ? .text : .blob
                let value = try LargeValue(
                    of: table,
                    column: place,
                    rowID: rowID,
                    in: database,
                    owner: nil,
                    name: name
                )
                (cell.size, cell.bytes) = (value.size, .large)
                if value.size <= TableCursor.largeSize { try keep(value.bytes().array) }
            } else {
                switch cell.storageClass {
                case .text, .blob: keep(statement.unsafeBytes(valued))
                case .integer: cell.integer = statement.integer(valued)
                case .real: cell.integer = Int64(bitPattern: statement.realBits(valued))
                case .null: break
                }
            }
            cells.append(cell)
        }
        buffer.deallocate()
        buffer = .allocate(byteCount: bytes.count, alignment: 16)
        buffer.copyBytes(from: bytes)
    }

    deinit { buffer.deallocate() }

    /// Returns the query for the first row of a range.
    ///
    /// For a text or a blob it asks only for its class, which SQLite knows without reading the value.
    private static func query(of table: TableSchema, _ columns: [Int]) -> String {
        let selected = columns.map { place in
            let column = table.columns[place].name.sqlIdentifier
            return table.canOpenValues(inColumn: place)
                ? "typeof(\(column)), CASE WHEN typeof(\(column)) IN ('text', 'blob') THEN NULL"
                    + " ELSE \(column) END"
                : "NULL, \(column)"
        }
        let rowIDName = table.rowIDName ?? "rowid"
        return """
            SELECT \(([rowIDName] + selected).joined(separator: ", "))
            FROM main.\(table.name.sqlIdentifier)
            WHERE \(rowIDName) BETWEEN ?1 AND ?2 ORDER BY \(rowIDName) LIMIT 1
            """
    }

    /// Reads a text or a blob that the row lacks: it is older than the column, and has the column's default.
    ///
    /// - Returns: `nil` if the row has the value, or if the value is no text or blob.
    private static func missingValue(
        at place: Int,
        of table: TableSchema,
        typeof type: String?,
        rowID: Int64,
        in database: OpaquePointer,
        name: String
    ) throws -> (storageClass: StorageClass, bytes: [UInt8])? {
        let column = table.columns[place]
        guard type == "text" || type == "blob", column.defaultValue != .constant(.null) else {
            return nil
        }
        var blob: OpaquePointer?
        let code = sqlite3_blob_open(
            database,
            "main",
            table.name,
            column.name,
            rowID,
            0,
            &blob
        )
        sqlite3_blob_close(blob)
        // For a record that ends before the column, SQLite finds NULL, and refuses to open it.
        guard code == SQLITE_ERROR else { return nil }
        let statement = try Statement(
            database,
            name: name,
            """
            SELECT \(column.name.sqlIdentifier) FROM main.\(table.name.sqlIdentifier)
            WHERE \(table.rowIDName ?? "rowid") = ?1
            """
        )
        try statement.bind(rowID, at: 1)
        guard try statement.step() else { return nil }
        return (statement.storageClass(0), Array(statement.unsafeBytes(0)))
    }

    func unsafeBytes(_ index: Int) -> UnsafeRawBufferPointer {
        guard case .part(let range) = cells[index].bytes else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(rebasing: buffer[range])
    }
}
