public import Files

/// A file of row deltas: those of one capture, a bundle of several captures, or a part of a baseline.
///
/// The whole file is checked against the format before any row is returned. It takes the memory of its inflated
/// bytes and of one row.
public struct ChangeFile: Sendable {
    /// A table with rows in the file.
    public struct Table: Sendable {
        public let name: TableName
        /// The columns of its rows, rising.
        public let columns: [ColumnName]
        public internal(set) var rowCount = 0
        /// The position of its rows in the body.
        var start = 0
    }

    /// The limits of a file's content; see Documentation/Design/Sync.md.
    public enum Limit {
        public static let tables = 10_000
        /// The limit of columns of one table.
        public static let columns = 2000
        /// The limit of columns of all tables together.
        public static let allColumns = 200_000
        public static let rows = 4_000_000
    }

    /// The file's kind: `changes` or `baselinePart`.
    public let kind: FileKind
    public let id: Digest
    public let header: ChangeHeader
    /// The tables with rows in the file, rising by name.
    public let tables: [Table]
    /// The devices of all stamps in the file, rising.
    public let devices: [DeviceID]
    /// The greatest clock in it: of its header and of all stamps.
    public let latest: UInt64
    private let body: [UInt8]

    /// Reads a file, and refuses all of it if any part breaks the format.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - name: the name for errors.
    ///   - inflate: the function that inflates the body.
    /// - Throws: `ChangeError`.
    public init(reading bytes: [UInt8], name: String, inflate: Inflate) throws {
        try self.init(Envelope(reading: bytes, name: name, inflate: inflate), name: name)
    }

    /// Reads the content of an envelope, and refuses all of it if any part breaks the format.
    ///
    /// - Throws: `ChangeError`.
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
            latest = max(header.latest, parsed.latest)
            body = envelope.body
        } catch let breach as FormatBreach {
            throw ChangeError.malformed(name, reason: breach.reason)
        }
    }

    /// The number of rows of all tables.
    public var rowCount: Int { tables.reduce(0) { $0 + $1.rowCount } }

    /// Calls a closure with each row, table by table, in the order of their ids.
    ///
    /// - Throws: any error of the closure.
    public func forEachRow(_ use: (Table, RowDelta) throws -> Void) throws {
        for table in tables { try forEachRow(of: table) { try use(table, $0) } }
    }

    /// Calls a closure with each row of one of the file's tables, in the order of their ids.
    ///
    /// - Throws: any error of the closure.
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
    /// It holds all rows in memory, so it is for tests and small files.
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
