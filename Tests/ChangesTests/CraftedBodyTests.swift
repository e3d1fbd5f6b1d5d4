internal import Changes
internal import Testing

@Suite("Crafted bodies")
struct CraftedBodyTests {
    /// The parts of a body, each of which a test can break.
    struct Body {
        var tables: [(name: String, columns: [String])] = [("t", ["a", "b"])]
        var devices: [UInt64] = [1, 2]
        /// The rows of the first table; the others have none.
        var rows: [[UInt8]] = [row(9), row(10, shared: 15)]
        var rowCount: UInt64?
        var end: [UInt8] = []

        /// Returns a row of one cell: column 0 is 1.
        static func row(
            _ id: UInt8,
            shared: UInt8 = 0,
            length: [UInt8] = [1],
            flags: UInt8 = 0,
            stamp: [UInt8] = [1, 0],
            cells: [UInt8] = [1, 0, 1, 0, 1, 2]
        ) -> [UInt8] {
            let rest = [UInt8](repeating: 0, count: Int(max(0, 15 - Int(shared)))) + [id]
            return [shared] + rest + length + [flags] + stamp + cells
        }

        var bytes: [UInt8] {
            var writer = ByteWriter()
            writer.varint(UInt64(tables.count))
            for table in tables {
                writer.bytes(Array(table.name.utf8))
                writer.varint(UInt64(table.columns.count))
                for column in table.columns { writer.bytes(Array(column.utf8)) }
            }
            writer.varint(UInt64(devices.count))
            for device in devices { writer.identifier(DeviceID(high: 0, low: device)) }
            writer.varint(rowCount ?? UInt64(rows.count))
            for row in rows { writer.raw(row) }
            for _ in tables.dropFirst() { writer.varint(0) }
            writer.raw(end)
            return writer.bytes
        }
    }

    @Test("The unchanged body is valid")
    func whole() throws {
        let file = try read(Body())
        let rows = try #require(try file.rows()[.of("t")])
        #expect(rows.map(\.id) == [RowID(high: 0, low: 9), RowID(high: 0, low: 10)])
        #expect(rows[0].state.cells.map(\.value) == [.integer(1)])
        let device = DeviceID(high: 0, low: 1)
        #expect(rows[0].state.cells[0].stamp == Stamp(clock: 1_000_000 << 16, device: device))
        #expect(rows[0].state.birth == nil)
    }

    @Test("Unknown bytes are ignored at the header's end, and nowhere else")
    func headerGoesOn() throws {
        let whole = try write([:])
        let envelope = try Envelope(reading: whole.bytes, name: "f", inflate: inflate)
        let longer = try Envelope.write(
            .changes,
            header: envelope.header + [1, 2, 3],
            body: envelope.body
        )
        let file = try ChangeFile(reading: longer.bytes, name: "f", inflate: inflate)
        #expect(file.header == .sample)
        for count in 0..<envelope.header.count {
            let cut = try Envelope.write(
                .changes,
                header: Array(envelope.header.prefix(count)),
                body: envelope.body
            )
            #expect(throws: ChangeError.self) {
                try ChangeFile(reading: cut.bytes, name: "f", inflate: inflate)
            }
        }
    }

    @Test("A body that breaks the format anywhere is refused with the broken rule")
    func broken() {
        refused("a table's name is not one") { $0.tables = [("T", [])] }
        refused("a table's name is not one") { $0.tables = [("", [])] }
        refused("its tables are not in order") { $0.tables = [("t", ["a"]), ("s", [])] }
        refused("its tables are not in order") { $0.tables = [("t", ["a"]), ("t", [])] }
        refused("its columns are not in order") { $0.tables = [("t", ["a", "a"])] }
        refused("a column's name is not one") { $0.tables = [("t", ["A"])] }
        refused("it has too many columns") {
            $0.tables = [("t", (0..<2001).map { "c\($0)" }.sorted())]
        }
        refused("it has too many columns") { body in
            body.tables = (0..<101).map { table in
                ("t\(1000 + table)", (0..<2000).map { "c\(10_000 + $0)" })
            }
        }
        refused("it has too many tables") { body in
            body.tables = (0..<10_001).map { ("t\(100_000 + $0)", []) }
        }
        refused("its devices are not in order") { $0.devices = [2, 1] }
        refused("its devices are not in order") { $0.devices = [0, 1] }
        refused("it has too many devices") { $0.devices = Array(1...4097) }
        refused("it has too many rows") { $0.rowCount = 4_000_001 }
        refused("it says that it has more rows than its bytes can hold") { $0.rowCount = 100 }
        refused("it goes on after its end") { $0.end = [0] }
        refused("it goes on after its end") { $0.rowCount = 1 }
        refused("it ends too early") { $0.rows[1].removeLast() }
    }

    @Test("A row that breaks the format is refused")
    func brokenRows() {
        refused("its rows are not in order", Body.row(9))
        refused("its rows are not in order", Body.row(0))
        refused("an id shares more than it has", Body.row(10, shared: 16))
        refused("a row was never there", Body.row(10, length: [0]))
        refused(
            "a row was deleted too often",
            Body.row(10, length: [0x81, 0x80, 0x80, 0x80, 0x10])
        )
        refused("a row has flags that cannot be", Body.row(10, flags: 16))
        refused("a row has flags that cannot be", Body.row(10, flags: 8))
        refused("a row has flags that cannot be", Body.row(10, length: [2], flags: 2))
        refused("a row that was deleted has cells", Body.row(10, length: [2]))
        refused("a stamp is of no device", Body.row(10, stamp: [3, 0]))
        let limit: [UInt8] = [1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]
        refused("a clock is beyond its limit", Body.row(10, stamp: limit))
        let negative: [UInt8] = [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]
        refused("a clock is beyond its limit", Body.row(10, stamp: negative))
    }

    @Test("A cell that breaks the format is refused")
    func brokenCells() {
        let stamp: [UInt8] = [1, 0]
        refused("it has too many cells", Body.row(10, cells: [3, 0] + stamp + [0]))
        refused(
            "a cell is of no column, or out of order",
            Body.row(10, cells: [1, 2] + stamp + [0])
        )
        refused(
            "a cell is of no column, or out of order",
            Body.row(10, cells: [2, 1] + stamp + [0, 1] + stamp + [0])
        )
        let values: [(String, [UInt8])] = [
            ("a value is of an unknown kind", [11]),
            ("a value in a reference is no value of a store", [9, 5]),
            (
                "a value in a reference is no value of a store",
                [10] + [UInt8](repeating: 1, count: 16) + [9]
            ),
            ("a number is not in its shortest form", [1, 0x80, 0]),
            ("a number is beyond 64 bits", [1] + [UInt8](repeating: 0xFF, count: 9) + [2]),
            ("a number is NaN, which SQLite cannot keep", [2, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]),
            ("a length is beyond its end", [3, 9, 1]),
            ("a length is beyond its end", [4] + [UInt8](repeating: 0xFF, count: 9) + [1]),
            ("it ends too early", [5, 1, 2, 3]),
            ("a file's name is no path below a directory", [6, 3, 0x2E, 0x2E, 0x2F]),
            ("a file's name is no path below a directory", [6, 2, 0x2F, 0x61]),
            ("a file's name is no path below a directory", [6, 0]),
            (
                "a blob is too long",
                [8] + [UInt8](repeating: 1, count: 32) + [0x81, 0x80, 0x80, 0x80, 4]
            ),
        ]
        for (reason, value) in values {
            refused(reason, Body.row(10, cells: [1, 0] + stamp + value))
        }
    }

    private func read(_ body: Body) throws -> ChangeFile {
        let header = try Envelope(reading: write([:]).bytes, name: "f", inflate: inflate).header
        let file = try Envelope.write(.changes, header: header, body: body.bytes)
        return try ChangeFile(reading: file.bytes, name: "f", inflate: inflate)
    }

    private func refused(
        _ reason: String,
        at location: SourceLocation = #_sourceLocation,
        _ edit: (inout Body) -> Void
    ) {
        var body = Body()
        edit(&body)
        #expect(
            throws: ChangeError.malformed("f", reason: reason),
            sourceLocation: location
        ) { try read(body) }
    }

    private func refused(
        _ reason: String,
        at location: SourceLocation = #_sourceLocation,
        _ row: [UInt8]
    ) {
        refused(reason, at: location) { $0.rows[1] = row }
    }
}
