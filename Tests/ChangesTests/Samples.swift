internal import Archives
internal import Changes
internal import Files
internal import TestSupport

/// Inflates data as the program does.
func inflate(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Bool {
    RawDeflate.inflate(input, into: output)
}

/// Deflates data as the program does.
func deflate(_ input: UnsafeRawBufferPointer) -> [UInt8] {
    RawDeflate.deflate(input)
}

func digest(_ bytes: [UInt8]) -> Digest {
    bytes.withUnsafeBytes { Digest(of: $0) }
}

/// Returns a file with the hash in its last 32 bytes recomputed, as a hostile container's owner would do.
func sealed(_ bytes: [UInt8]) -> [UInt8] {
    bytes + digest(bytes).bytes
}

extension TableName {
    /// Returns a table name that is known to be valid.
    static func of(_ text: String) -> TableName {
        guard let name = TableName(text) else { fatalError("'\(text)' is not a name") }
        return name
    }
}

extension ColumnName {
    /// Returns a column name that is known to be valid.
    static func of(_ text: String) -> ColumnName {
        if text == "#same" { return .same }
        guard let name = ColumnName(text) else { fatalError("'\(text)' is not a name") }
        return name
    }
}

extension Value {
    static func of(_ text: String) -> Value { .text(Array(text.utf8)) }
}

extension ChangeHeader {
    static let sample = ChangeHeader(
        group: GroupID(high: 1, low: 2),
        device: DeviceID(high: 0x1111_1111_1111_1111, low: 1),
        clock: 1_000_000 << 16,
        wall: 1_000_000,
        sequence: 7,
        program: "grocerydude 1.0"
    )
}

/// Makes random parts of files, from few choices each so that they collide.
extension Pseudorandom {
    mutating func device() -> DeviceID {
        DeviceID(high: 0x1111_1111_1111_1111 &* UInt64(1 + below(4)), low: 1)
    }

    mutating func stamp() -> Stamp {
        if below(6) == 0 { return .zero }
        let clock = below(20) == 0 ? next() % HybridClock.limit : UInt64(999_990 + below(20)) << 16
        return Stamp(clock: clock, device: device())
    }

    mutating func rowID() -> RowID {
        below(3) == 0
            ? RowID(high: next() | 1, low: next())
            : RowID(randomHigh: 0xABCD, randomLow: UInt32(below(3)), count: UInt32(1 + below(9)))
    }

    mutating func value() -> Value {
        let reference = BlobReference(
            digest: digest([UInt8(below(3))]),
            size: pick([0, 65_537, BlobReference.maximumSize])
        )
        switch below(14) {
        case 0: return .null
        case 1: return .integer(pick([0, 1, -1, 63, 64, .min, .max]))
        case 2: return .integer(Int64(bitPattern: next()))
        case 3:
            return .real(pick([0, -0.0, 1, .infinity, -.infinity, .leastNonzeroMagnitude, 0.1]))
        case 4: return .text(Array(pick(["", "kg", "milk\0", "Brötchen \"1\"\n"]).utf8))
        case 5: return .text(bytes(below(20)))
        case 6: return .blob(bytes(below(200)))
        case 7: return .row(below(4) == 0 ? .zero : rowID())
        case 8:
            let name = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
            return .file(name: Array(name.utf8), content: reference)
        case 9: return .longText(reference)
        case 10: return .longBlob(reference)
        case 11:
            return .plain(
                pick([.integer(-1), .real(0.5), .of("kg"), .blob([0]), .longText(reference)])
            )
        case 12: return .naming(rowID(), pick([.integer(7), .of("kg"), .longText(reference)]))
        default: return .integer(Int64(below(3)))
        }
    }

    mutating func state(of columns: [ColumnName]) -> RowState {
        let length = UInt32(1 + below(4))
        if length % 2 == 0 { return RowState(causalLength: length, deletion: stamp()) }
        let one = below(2) == 0 ? stamp() : nil
        var cells: [Cell] = []
        for column in columns where below(3) > 0 {
            cells.append(Cell(column, one ?? stamp(), value()))
        }
        let birth = below(3) == 0 ? nil : one != nil && below(2) == 0 ? one : stamp()
        return RowState(causalLength: length, birth: birth, cells: cells)
    }

    /// Returns rows of a few tables, each row once.
    mutating func rows(atMost limit: Int = 12) -> [TableName: [RowDelta]] {
        var tables: [TableName: [RowDelta]] = [:]
        for name in ["unit", "item", "Möbel \"3\"", "entity.property"] where below(2) == 0 {
            let columns = ["name", "note", "#", "##x", "#same", "é", "list_id"].map(ColumnName.of)
            var rows: [RowID: RowDelta] = [:]
            for _ in 0..<below(limit) {
                let id = rowID()
                let hint: Value? = below(3) == 0 ? .integer(Int64(below(1000))) : nil
                rows[id] = RowDelta(id, state(of: columns), hint: hint)
            }
            if !rows.isEmpty { tables[.of(name)] = rows.values.sorted { $0.id < $1.id } }
        }
        return tables
    }

    /// Returns a whole file of such rows.
    mutating func file() throws -> (bytes: [UInt8], rows: [TableName: [RowDelta]]) {
        let rows = rows()
        var header = ChangeHeader.sample
        header.sequence = next() % 1000
        header.seen = below(2) == 0 ? [SeenClock(device: device(), clock: 5)] : []
        header.replaces = below(2) == 0 ? [digest([1]), digest([2])] : []
        let kind: FileKind = below(2) == 0 ? .changes : .baselinePart
        let file = try write(rows, header, kind: kind, deflate: below(2) == 0 ? deflate : nil)
        return (file.bytes, rows)
    }
}

func write(
    _ rows: [TableName: [RowDelta]],
    _ header: ChangeHeader = .sample,
    kind: FileKind = .changes,
    deflate: Deflate? = nil
) throws -> WrittenFile {
    var writer = ChangeFileWriter()
    for (table, rows) in rows {
        for row in rows { try writer.add(row, to: table) }
    }
    return try writer.finish(header, kind: kind, deflate: deflate)
}
