struct BodyWriter {
    private struct Table {
        let name: TableName
        let columns: [ColumnName]
        let rows: [RowDelta]
        /// The position of each row in `rows`, rising by id.
        ///
        /// Sorting ids alone is faster than sorting rows.
        let order: [(id: RowID, place: Int)]

        init(_ name: TableName, _ rows: TableRows) {
            self.name = name
            columns = rows.sortedColumns
            self.rows = rows.rows
            order = zip(rows.rows.lazy.map(\.id), rows.rows.indices).sorted { $0.0 < $1.0 }
        }
    }

    private let tables: [Table]
    private let devices: [DeviceID]
    private let indices: [DeviceID: UInt64]
    private let clock: UInt64
    private var writer = ByteWriter()
    /// The device of the last lookup.
    ///
    /// Most stamps have the same device as the one before.
    private var last: (device: DeviceID, index: UInt64) = (.zero, 0)

    init(_ tables: [TableName: TableRows], clock: UInt64) throws {
        self.tables = tables.sorted { $0.key < $1.key }.map { Table($0.key, $0.value) }
        self.clock = clock
        devices = Self.devices(in: self.tables)
        indices = Dictionary(
            uniqueKeysWithValues: zip(devices, 1...).map { ($0, UInt64($1)) }
        )
        guard clock < HybridClock.limit, devices.count <= ChangeHeader.maximumDevices,
            tables.count <= ChangeFile.Limit.tables,
            self.tables.allSatisfy({ $0.columns.count <= ChangeFile.Limit.columns }),
            self.tables.reduce(0, { $0 + $1.columns.count }) <= ChangeFile.Limit.allColumns,
            self.tables.reduce(0, { $0 + $1.rows.count }) <= ChangeFile.Limit.rows
        else { throw ChangeError.beyondLimit("it has too many tables, columns, rows or devices") }
    }

    /// Writes the whole body.
    ///
    /// - Parameter bound: the greatest possible length of the body.
    /// - Returns: the body.
    /// - Throws: `ChangeError.beyondLimit` if a row was added twice, or a stamp is invalid.
    consuming func body(bound: Int) throws -> [UInt8] {
        writer.reserve(min(bound, 16 << 20))
        writer.varint(UInt64(tables.count))
        for table in tables {
            writer.bytes(table.name.bytes)
            writer.varint(UInt64(table.columns.count))
            for column in table.columns { writer.bytes(column.bytes) }
        }
        writer.varint(UInt64(devices.count))
        for device in devices { writer.identifier(device) }
        for table in tables {
            writer.varint(UInt64(table.rows.count))
            var previous = RowID.zero
            for (id, place) in table.order {
                guard id > previous else {
                    throw ChangeError.beyondLimit("a row of '\(table.name)' was added twice")
                }
                try write(table.rows[place], after: previous, columns: table.columns)
                previous = id
            }
        }
        return writer.bytes
    }

    private mutating func write(
        _ row: RowDelta,
        after previous: RowID,
        columns: [ColumnName]
    ) throws {
        write(row.id, after: previous)
        let state = row.state
        writer.varint(UInt64(state.causalLength))
        guard state.isAlive else {
            writer.byte(0)
            try write(state.deletion)
            writer.varint(0)
            return
        }
        let first = state.cells.first?.stamp
        let hasOneStamp = first.map { state.cells.have($0) } ?? false
        let stamp = hasOneStamp ? first ?? .zero : state.birth ?? first ?? .zero
        var flags: UInt8 = hasOneStamp ? RowFlag.oneStamp : 0
        if state.birth != nil { flags |= RowFlag.birth }
        if state.birth == stamp { flags |= RowFlag.birthIsStamp }
        if row.hint != nil { flags |= RowFlag.hint }
        writer.byte(flags)
        if let birth = state.birth { try write(birth) }
        if state.birth != stamp { try write(stamp) }
        if let hint = row.hint { try write(hint) }
        writer.varint(UInt64(state.cells.count))
        try state.cells.withUnsafeBufferPointer { cells in
            var column = 0
            for index in cells.indices {
                while columns[column] != cells[index].column { column += 1 }
                writer.varint(UInt64(column))
                if !hasOneStamp { try write(cells[index].stamp) }
                try write(cells[index].value)
                column += 1
            }
        }
    }

    private mutating func write(_ id: RowID, after previous: RowID) {
        var shared = (id.high ^ previous.high).leadingZeroBitCount / 8
        if shared == 8 { shared += (id.low ^ previous.low).leadingZeroBitCount / 8 }
        writer.byte(UInt8(shared))
        for place in shared..<16 {
            let half = place < 8 ? id.high : id.low
            writer.byte(UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (place % 8))))
        }
    }

    private mutating func write(_ value: Value) throws {
        switch value {
        case .real(let number) where number.isNaN:
            throw ChangeError.beyondLimit("a number is NaN")
        case .file(let name, let content):
            guard Value.isFileName(name), content.size <= BlobReference.maximumSize else {
                throw ChangeError.beyondLimit("a file's name is no path, or it is over 1 GiB")
            }
        case .longText(let content), .longBlob(let content):
            guard content.size <= BlobReference.maximumSize else {
                throw ChangeError.beyondLimit("a value is over 1 GiB")
            }
        default: break
        }
        writer.value(value)
    }

    private mutating func write(_ stamp: Stamp) throws {
        if stamp.isZero {
            writer.varint(0)
            return
        }
        if stamp.device != last.device {
            last = (stamp.device, indices[stamp.device] ?? 0)
        }
        guard last.index > 0, stamp.clock < HybridClock.limit else {
            throw ChangeError.beyondLimit("a stamp has no device, or its clock is beyond its limit")
        }
        writer.varint(last.index)
        writer.zigzag(Int64(stamp.clock) - Int64(clock))
    }

    /// Returns the devices of all stamps, rising.
    private static func devices(in tables: [Table]) -> [DeviceID] {
        var devices: Set<DeviceID> = []
        var last = DeviceID.zero
        func add(_ device: DeviceID) {
            if device == last || device.isZero { return }
            last = device
            devices.insert(device)
        }
        for table in tables {
            for place in table.rows.indices {
                if let birth = table.rows[place].state.birth { add(birth.device) }
                add(table.rows[place].state.deletion.device)
                table.rows[place].state.cells.withUnsafeBufferPointer { cells in
                    for index in cells.indices { add(cells[index].stamp.device) }
                }
            }
        }
        return devices.sorted()
    }
}
