internal import Changes
internal import Files
internal import TestSupport
internal import Testing

@Suite("Change files")
struct ChangeFileTests {
    @Test("Reading returns the random rows that were written")
    func roundTrip() throws {
        for seed in Fuzzing(usual: 500) {
            var random = Pseudorandom(seed: seed)
            let (bytes, rows) = try random.file()
            let file = try ChangeFile(reading: bytes, name: "f", inflate: inflate)
            #expect(try file.rows() == rows, "seed \(seed)")
            #expect(file.rowCount == rows.values.reduce(0) { $0 + $1.count })
        }
    }

    @Test("Rows are encoded in one way, in whatever order they are given")
    func oneWay() throws {
        var random = Pseudorandom(seed: 3)
        let rows = random.rows(atMost: 40)
        let file = try write(rows)
        var writer = ChangeFileWriter()
        for (table, rows) in rows {
            for row in rows.shuffled(using: &random) { try writer.add(row, to: table) }
        }
        #expect(try writer.finish(.sample).bytes == file.bytes)
    }

    @Test("A file matches Documentation/Design/Sync.md byte for byte")
    func golden() throws {
        let stamp = Stamp(clock: ChangeHeader.sample.clock, device: ChangeHeader.sample.device)
        let earlier = Stamp(clock: stamp.clock - 1, device: stamp.device)
        let unit = RowID(high: 0xCA93_B287_46CD_FE17, low: 0xF44E_14C5_6FBE_5149)
        let next = RowID(high: unit.high, low: unit.low + 1)
        let rows: [TableName: [RowDelta]] = [
            .of("unit"): [
                RowDelta(
                    unit,
                    RowState(
                        birth: .zero,
                        cells: [
                            Cell(.of("Name"), .zero, .of("kg")),
                            Cell(.of("factor"), stamp, .real(-1.5)),
                        ]
                    ),
                    hint: .integer(-3)
                ),
                RowDelta(next, RowState(deletion: earlier)),
            ]
        ]
        let file = try write(rows)
        #expect(
            file.bytes.hex
                == """
                474453594e43310a010000010000005000000000000000550000000000000055\
                0000000000000001000000000000000211111111111111110000000000000001\
                0000000f42400000c0843d07000100000000000000000000000000000000\
                0f67726f636572796475646520312e300000\
                0104756e69740206666163746f72046e616d65\
                0111111111111111110000000000000001\
                02\
                00ca93b28746cdfe17f44e14c56fbe5149010b000105020001000\
                2bff80000000000000100030\
                26b670f4a0200010100
                """.filter { $0 != "\n" } + file.id.description
        )
        #expect(
            file.id.description
                == "ea48973686197e2350b36bb73f0ee5843e3d107ed5cd5eec63a52f58db83cad0"
        )
    }

    @Test("One cell takes few bytes, and so do a thousand")
    func sizes() throws {
        let stamp = Stamp(clock: ChangeHeader.sample.clock, device: ChangeHeader.sample.device)
        var random = Pseudorandom(seed: 5)
        func cells(_ count: Int, _ id: (UInt32) -> RowID) throws -> Int {
            let cell = Cell(.of("quantity"), stamp, .integer(12))
            let rows = (0..<UInt32(count)).map {
                RowDelta(id($0), RowState(birth: nil, cells: [cell]))
            }
            return try write([.of("item"): rows], deflate: deflate).bytes.count
        }
        #expect(try cells(1) { _ in RowID(high: 1, low: 2) } <= 300)
        let ofSeed = try cells(1000) { _ in RowID(high: random.next(), low: random.next()) }
        #expect(ofSeed < 21_000)
        let ofCapture = try cells(1000) { RowID(randomHigh: 77, randomLow: 8, count: $0) }
        #expect(ofCapture < 4500)
        print("one thousand cells: \(ofSeed) bytes of seeded rows, \(ofCapture) of a capture's")
    }

    @Test("Long values go into blobs, and so do the largest of a long row")
    func longValues() throws {
        func row(_ sizes: [Int]) -> RowDelta {
            let cells = sizes.enumerated().map { index, size in
                let bytes = [UInt8](repeating: UInt8(index), count: size)
                let value: Value = index % 2 == 0 ? .text(bytes) : .blob(bytes)
                return Cell(.of("c\(1000 + index)"), .zero, value)
            }
            return RowDelta(RowID(high: 1, low: 1), RowState(birth: .zero, cells: cells))
        }
        var stored: [BlobReference: [UInt8]] = [:]
        let short = row([10, 65_536, 65_530])
        #expect(short.movingLongValues { stored[$0] = $1 } == short)
        #expect(stored.isEmpty)

        let long = row([10, 65_537, 65_538, 65_536]).movingLongValues { stored[$0] = $1 }
        #expect(long.state.cells.map { $0.value.encoded[0] } == [3, 8, 7, 4])
        #expect(stored.count == 2)
        for (reference, content) in stored {
            #expect(reference.digest == digest(content))
            #expect(reference.size == UInt64(content.count))
        }

        stored = [:]
        let wide = row([Int](repeating: 50_000, count: 100) + [60_000])
        #expect(throws: ChangeError.self) {
            var writer = ChangeFileWriter()
            try writer.add(wide, to: .of("t"))
        }
        let narrow = wide.movingLongValues { stored[$0] = $1 }
        #expect(narrow.encodedBound <= ChangeFileWriter.maximumRow)
        #expect(narrow.encodedBound > ChangeFileWriter.maximumRow - 60_000)
        #expect(narrow.state.cells.last?.value.reference?.size == 60_000)
        var writer = ChangeFileWriter()
        try writer.add(narrow, to: .of("t"))
        _ = try writer.finish(.sample)
    }

    @Test("A file is full at 16,384 rows or 4 MiB, which is within the limits of readers")
    func full() throws {
        var writer = ChangeFileWriter()
        let value = Value.blob([UInt8](repeating: 7, count: 60_000))
        var count: UInt64 = 0
        while !writer.isFull {
            count += 1
            let cells = (0..<60).map { Cell(.of("c\($0)"), .zero, value) }
            try writer.add(
                RowDelta(RowID(high: 1, low: count), RowState(birth: .zero, cells: cells)),
                to: .of("t")
            )
        }
        #expect(count == 2)
        let file = try writer.finish(.sample)
        #expect(file.bytes.count < 12 << 20)

        var other = ChangeFileWriter()
        let tombstone = RowState(deletion: .zero)
        count = 0
        while !other.isFull {
            count += 1
            try other.add(RowDelta(RowID(high: 1, low: count), tombstone), to: .of("t"))
        }
        #expect(count == 16_384)
        let tombstones = try other.finish(.sample, deflate: deflate)
        let read = try ChangeFile(reading: tombstones.bytes, name: "f", inflate: inflate)
        #expect(read.rowCount == 16_384)
    }

    @Test("The writer refuses what no reader would accept")
    func refusedByWriter() throws {
        let device = DeviceID(high: 1, low: 1)
        let late = Stamp(clock: HybridClock.limit, device: device)
        let bad: [RowDelta] = [
            RowDelta(RowID(high: 1, low: 1), RowState(birth: late, cells: [])),
            RowDelta(RowID(high: 1, low: 1), RowState(deletion: Stamp(clock: 1, device: .zero))),
            RowDelta(.zero, RowState(deletion: .zero)),
            RowDelta(RowID(high: 1, low: 1), .unknown),
            one(.real(.nan)),
            one(.longBlob(BlobReference(digest: digest([]), size: 1 << 30 + 1))),
            one(.file(name: [0x2F, 1], content: BlobReference(digest: digest([]), size: 1))),
            one(.file(name: [0x2E, 0x2E], content: BlobReference(digest: digest([]), size: 1))),
        ]
        for row in bad {
            #expect(throws: ChangeError.self) { try write([.of("t"): [row]]) }
        }
        let twice = RowDelta(RowID(high: 1, low: 1), RowState(deletion: .zero))
        #expect(throws: ChangeError.self) { try write([.of("t"): [twice, twice]]) }
        var header = ChangeHeader.sample
        header.part = 1
        #expect(throws: ChangeError.self) { try write([:], header) }
        header = .sample
        header.clock = HybridClock.limit
        #expect(throws: ChangeError.self) { try write([:], header) }
        let many = (0..<UInt64(4097)).map { index in
            let stamp = Stamp(clock: 1, device: DeviceID(high: 1, low: index))
            return RowDelta(RowID(high: 1, low: index + 1), RowState(deletion: stamp))
        }
        #expect(throws: ChangeError.self) { try write([.of("t"): many]) }
    }

    private func one(_ value: Value) -> RowDelta {
        let cells = [Cell(.of("c"), .zero, value)]
        return RowDelta(RowID(high: 1, low: 1), RowState(birth: .zero, cells: cells))
    }
}

extension [UInt8] {
    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
