enum BodyReader {
    /// Checks a whole body against the format, and returns the position of each table's rows, and the greatest clock.
    static func check(
        _ bytes: UnsafeRawBufferPointer,
        clock: UInt64
    ) throws(FormatBreach) -> (tables: [ChangeFile.Table], devices: [DeviceID], latest: UInt64) {
        var reader = ByteReader(bytes)
        var tables = try tables(&reader)
        let devices = try devices(&reader)
        var total = 0
        var latest: UInt64 = 0
        for index in tables.indices {
            let count = try reader.count(of: 6, atMost: ChangeFile.Limit.rows, "rows")
            total += count
            guard total <= ChangeFile.Limit.rows else { throw FormatBreach("it has too many rows") }
            tables[index].rowCount = count
            tables[index].start = reader.position
            var rows = RowReader(
                UnsafeRawBufferPointer(rebasing: bytes[reader.position...]),
                clock: clock,
                devices: devices,
                columns: tables[index].columns
            )
            for _ in 0..<count { try rows.skip() }
            latest = max(latest, rows.latest)
            _ = try reader.raw(rows.position)
        }
        try reader.end()
        return (tables, devices, latest)
    }

    private static func tables(
        _ reader: inout ByteReader
    ) throws(FormatBreach) -> [ChangeFile.Table] {
        // A table takes at least four bytes: its name, the count of its columns, and the count of its rows.
        let count = try reader.count(of: 4, atMost: ChangeFile.Limit.tables, "tables")
        var tables: [ChangeFile.Table] = []
        var allColumns = 0
        for _ in 0..<count {
            let bytes = Array(try reader.bytes())
            guard let name = TableName(bytes: bytes), name.bytes == bytes else {
                throw FormatBreach("a table's name is not one")
            }
            if let last = tables.last, last.name >= name {
                throw FormatBreach("its tables are not in order")
            }
            let columns = try columns(&reader)
            allColumns += columns.count
            guard allColumns <= ChangeFile.Limit.allColumns else {
                throw FormatBreach("it has too many columns")
            }
            tables.append(ChangeFile.Table(name: name, columns: columns))
        }
        return tables
    }

    private static func columns(_ reader: inout ByteReader) throws(FormatBreach) -> [ColumnName] {
        let count = try reader.count(of: 2, atMost: ChangeFile.Limit.columns, "columns")
        var columns: [ColumnName] = []
        columns.reserveCapacity(count)
        for _ in 0..<count {
            let bytes = Array(try reader.bytes())
            guard let name = ColumnName(bytes: bytes), name.bytes == bytes else {
                throw FormatBreach("a column's name is not one")
            }
            if let last = columns.last, last >= name {
                throw FormatBreach("its columns are not in order")
            }
            columns.append(name)
        }
        return columns
    }

    private static func devices(_ reader: inout ByteReader) throws(FormatBreach) -> [DeviceID] {
        let count = try reader.count(of: 16, atMost: ChangeHeader.maximumDevices, "devices")
        var devices: [DeviceID] = []
        devices.reserveCapacity(count)
        for _ in 0..<count {
            let device: DeviceID = try reader.identifier()
            guard device > devices.last ?? .zero else {
                throw FormatBreach("its devices are not in order")
            }
            devices.append(device)
        }
        return devices
    }
}

/// The bits of a row's flags.
enum RowFlag {
    static let birth: UInt8 = 1
    static let hint: UInt8 = 2
    static let oneStamp: UInt8 = 4
    static let birthIsStamp: UInt8 = 8
}

/// A reader of the rows of one table, in sequence.
struct RowReader {
    private var reader: ByteReader
    private let clock: Int64
    private let devices: [DeviceID]
    private let columns: [ColumnName]
    private var id = RowID.zero
    /// The greatest clock of the stamps already read.
    private(set) var latest: UInt64 = 0

    init(
        _ bytes: UnsafeRawBufferPointer,
        clock: UInt64,
        devices: [DeviceID],
        columns: [ColumnName]
    ) {
        reader = ByteReader(bytes)
        self.clock = Int64(clock)
        self.devices = devices
        self.columns = columns
    }

    /// The number of bytes already read.
    var position: Int { reader.position }

    /// The part of a row before its cells.
    private struct Start {
        var causalLength: UInt32
        var birth: Stamp?
        var stamp: Stamp
        var hint: Value?
        var hasOneStamp: Bool
        var cellCount: Int
    }

    /// Reads the next row.
    mutating func next() throws(FormatBreach) -> RowDelta {
        let start = try start(isSkipping: false)
        guard start.causalLength % 2 == 1 else {
            return RowDelta(
                id,
                RowState(
                    unchecked: start.causalLength,
                    birth: nil,
                    deletion: start.stamp,
                    cells: []
                )
            )
        }
        var cells: [Cell] = []
        cells.reserveCapacity(start.cellCount)
        var floor = 0
        for _ in 0..<start.cellCount {
            let column = try column(&floor)
            let stamp = start.hasOneStamp ? start.stamp : try stamp()
            cells.append(Cell(columns[column], stamp, try reader.value()))
        }
        let state = RowState(
            unchecked: start.causalLength,
            birth: start.birth,
            deletion: .zero,
            cells: cells
        )
        return RowDelta(id, state, hint: start.hint)
    }

    /// Skips the next row, and checks it against the format.
    mutating func skip() throws(FormatBreach) {
        let start = try start(isSkipping: true)
        var floor = 0
        for _ in 0..<start.cellCount {
            _ = try column(&floor)
            if !start.hasOneStamp { _ = try stamp() }
            try reader.skipValue()
        }
    }

    private mutating func start(isSkipping: Bool) throws(FormatBreach) -> Start {
        let next = try nextID()
        guard next > id else { throw FormatBreach("its rows are not in order") }
        id = next
        let length = try reader.varint(atMost: UInt64(UInt32.max), "a row was deleted too often")
        guard length > 0 else { throw FormatBreach("a row was never there") }
        let flags = try reader.byte()
        let isAlive = length % 2 == 1
        guard flags < 16, isAlive || flags == 0,
            flags & RowFlag.birthIsStamp == 0 || flags & RowFlag.birth != 0
        else { throw FormatBreach("a row has flags that cannot be") }
        let birth = flags & RowFlag.birth != 0 ? try stamp() : nil
        var stamp = Stamp.zero
        if let birth, flags & RowFlag.birthIsStamp != 0 {
            stamp = birth
        } else {
            stamp = try self.stamp()
        }
        var hint: Value?
        if flags & RowFlag.hint != 0 {
            if isSkipping { try reader.skipValue() } else { hint = try reader.value() }
        }
        let count = try reader.count(of: 2, atMost: columns.count, "cells")
        guard isAlive || count == 0 else { throw FormatBreach("a row that was deleted has cells") }
        return Start(
            causalLength: UInt32(length),
            birth: birth,
            stamp: stamp,
            hint: hint,
            hasOneStamp: flags & RowFlag.oneStamp != 0,
            cellCount: count
        )
    }

    private mutating func nextID() throws(FormatBreach) -> RowID {
        let shared = Int(try reader.byte())
        guard shared < 16 else { throw FormatBreach("an id shares more than it has") }
        var high = id.high
        var low = id.low
        if shared < 8 {
            high = shared == 0 ? 0 : high & (.max << UInt64(64 - 8 * shared))
            low = 0
        } else {
            low = shared == 8 ? 0 : low & (.max << UInt64(64 - 8 * (shared - 8)))
        }
        var place = shared
        for byte in try reader.raw(16 - shared) {
            if place < 8 {
                high |= UInt64(byte) << UInt64(56 - 8 * place)
            } else {
                low |= UInt64(byte) << UInt64(120 - 8 * place)
            }
            place += 1
        }
        return RowID(high: high, low: low)
    }

    /// Reads a column's index, which must be at least the floor, and raises the floor above it.
    private mutating func column(_ floor: inout Int) throws(FormatBreach) -> Int {
        let index = try reader.varint()
        guard index < UInt64(columns.count), index >= UInt64(floor) else {
            throw FormatBreach("a cell is of no column, or out of order")
        }
        floor = Int(index) + 1
        return Int(index)
    }

    private mutating func stamp() throws(FormatBreach) -> Stamp {
        let index = try reader.varint()
        if index == 0 { return .zero }
        guard index <= UInt64(devices.count) else { throw FormatBreach("a stamp is of no device") }
        let (reading, overflow) = clock.addingReportingOverflow(try reader.zigzag())
        guard !overflow, reading >= 0, reading < Int64(HybridClock.limit) else {
            throw FormatBreach("a clock is beyond its limit")
        }
        latest = max(latest, UInt64(reading))
        return Stamp(clock: UInt64(reading), device: devices[Int(index) - 1])
    }
}
