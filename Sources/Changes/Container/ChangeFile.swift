public import Files

/// Deltas of rows as a file carries them: of one capture, a bundle of several, or a baseline's part.
///
/// A file is held to the whole format before any of its rows is given out. Its memory is that of its
/// bytes, inflated, and of one row.
public struct ChangeFile: Sendable {
    /// A table with rows in the file.
    public struct Table: Sendable {
        public let name: TableName
        /// Rising.
        public let columns: [ColumnName]
        public internal(set) var rowCount = 0
        /// Where its rows begin in the body.
        var start = 0
    }

    /// The limits of what a file may hold; see Documentation/Sync.md.
    public enum Limit {
        public static let tables = 10_000
        /// Columns of one table.
        public static let columns = 2000
        /// Columns of all tables together.
        public static let allColumns = 200_000
        public static let rows = 4_000_000
    }

    /// `changes` or `baselinePart`.
    public let kind: FileKind
    public let id: Digest
    public let header: ChangeHeader
    /// Rising by name.
    public let tables: [Table]
    /// The devices that wrote what is in it; rising.
    public let devices: [DeviceID]
    private let body: [UInt8]

    /// Reads a file and refuses it, all of it, if it breaks the format anywhere.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - name: the name for errors.
    ///   - inflate: undoes deflate.
    /// - Throws: `ChangeError`.
    public init(reading bytes: [UInt8], name: String, inflate: Inflate) throws {
        try self.init(Envelope(reading: bytes, name: name, inflate: inflate), name: name)
    }

    /// Reads what an envelope held, likewise.
    public init(_ envelope: Envelope, name: String) throws {
        guard envelope.kind == .changes || envelope.kind == .baselinePart else {
            throw ChangeError.otherKind(name, kind: envelope.kind)
        }
        do {
            let header = try ChangeHeader(reading: envelope.header)
            let parsed = try envelope.body.withUnsafeBytes { bytes in
                try BodyReader.check(bytes, clock: header.clock)
            }
            kind = envelope.kind
            id = envelope.id
            self.header = header
            tables = parsed.tables
            devices = parsed.devices
            body = envelope.body
        } catch let breach as FormatBreach {
            throw ChangeError.malformed(name, reason: breach.reason)
        }
    }

    /// Rows of all tables.
    public var rowCount: Int { tables.reduce(0) { $0 + $1.rowCount } }

    /// Calls a closure with each row, table after table, in the order of their ids.
    ///
    /// - Throws: what the closure throws.
    public func forEachRow(_ use: (Table, RowDelta) throws -> Void) throws {
        for table in tables { try forEachRow(of: table) { try use(table, $0) } }
    }

    /// Calls a closure with each row of one of the file's tables, in the order of their ids.
    ///
    /// - Throws: what the closure throws.
    public func forEachRow(of table: Table, _ use: (RowDelta) throws -> Void) throws {
        try body.withUnsafeBytes { bytes in
            var rows = RowReader(
                UnsafeRawBufferPointer(rebasing: bytes[table.start...]),
                clock: header.clock,
                devices: devices,
                columns: table.columns
            )
            for _ in 0..<table.rowCount { try use(try rows.next()) }
        }
    }

    /// Returns all rows, by table.
    ///
    /// It takes as much memory as they do: for tests and small files.
    public func rows() throws -> [TableName: [RowDelta]] {
        var rows: [TableName: [RowDelta]] = [:]
        for table in tables {
            var all: [RowDelta] = []
            all.reserveCapacity(table.rowCount)
            try forEachRow(of: table) { all.append($0) }
            rows[table.name] = all
        }
        return rows
    }
}
