@testable internal import Archives
internal import TestSupport
internal import Testing

/// Checks the layout of APPNOTE.TXT 6.3; offsets are counted from a record's beginning.
@Suite("Zip records")
struct ZipRecordsTests {
    private static let limit = UInt64(UInt32.max)

    private func record(
        size: UInt64 = 10,
        compressed: UInt64 = 5,
        offset: UInt64 = 0,
        isWide: Bool = false,
        hasDescriptor: Bool = false
    ) -> EntryRecord {
        EntryRecord(
            name: Array("a".utf8),
            method: 8,
            checksum: 0x0403_0201,
            compressedSize: compressed,
            size: size,
            mode: 0o100644,
            modified: 1_700_000_000_000_000_000,
            offset: offset,
            hasWideSizes: isWide,
            hasDescriptor: hasDescriptor
        )
    }

    @Test("A small entry's records have no 64-bit fields")
    func narrow() {
        let local = record().local()
        #expect(local.count == 30 + 1 + 9)
        #expect(local.uint16(at: 4) == 20)
        #expect(local.uint32(at: 14) == 0x0403_0201)
        #expect(local.uint32(at: 18) == 5)
        #expect(local.uint32(at: 22) == 10)
        let central = record(offset: 77).central()
        #expect(central.count == 46 + 1 + 9)
        #expect(central.uint16(at: 4) == 3 << 8 | 20)
        #expect(central.uint32(at: 20) == 5)
        #expect(central.uint32(at: 24) == 10)
        #expect(central.uint32(at: 38) == 0o100644 << 16)
        #expect(central.uint32(at: 42) == 77)
    }

    @Test("Wide sizes are in an extra field, the uncompressed one first")
    func wide() {
        let local = record(size: Self.limit + 1, compressed: 7, isWide: true).local()
        #expect(local.uint16(at: 4) == 45)
        #expect(local.uint32(at: 18) == UInt32.max)
        #expect(local.uint32(at: 22) == UInt32.max)
        #expect(local.uint16(at: 31) == 1)
        #expect(local.uint16(at: 33) == 16)
        #expect(local.uint64(at: 35) == Self.limit + 1)
        #expect(local.uint64(at: 43) == 7)
    }

    @Test("With a descriptor, sizes and checksum are only in the central record")
    func descriptor() {
        let record = record(hasDescriptor: true)
        let local = record.local()
        #expect(local.count == 30 + 1 + 9)
        #expect(local.uint16(at: 6) == 1 << 11 | 1 << 3)
        #expect(local[14..<26].allSatisfy { $0 == 0 })
        let central = record.central()
        #expect(central.uint16(at: 8) == 1 << 11 | 1 << 3)
        #expect(central.uint32(at: 16) == 0x0403_0201)
        #expect(central.uint32(at: 20) == 5)
        #expect(central.uint32(at: 24) == 10)
        let descriptor = record.descriptor.encoded()
        #expect(descriptor == [0x50, 0x4B, 7, 8, 1, 2, 3, 4, 5, 0, 0, 0, 10, 0, 0, 0])
    }

    @Test("A descriptor has 64-bit sizes if the local record has a field for them")
    func wideDescriptor() {
        let record = record(size: Self.limit + 1, compressed: 7, isWide: true, hasDescriptor: true)
        let local = record.local()
        #expect(local.uint16(at: 4) == 45)
        #expect(local.uint32(at: 14) == 0)
        #expect(local.uint32(at: 18) == UInt32.max)
        #expect(local.uint32(at: 22) == UInt32.max)
        #expect(local[31..<35] == [1, 0, 16, 0])
        #expect(local[35..<51].allSatisfy { $0 == 0 })
        let descriptor = record.descriptor.encoded()
        #expect(descriptor.count == DataDescriptor.length(isWide: true))
        #expect(descriptor.uint32(at: 4) == 0x0403_0201)
        #expect(descriptor.uint64(at: 8) == 7)
        #expect(descriptor.uint64(at: 16) == Self.limit + 1)
    }

    @Test(
        "An offset of 4 GiB or more is in an extra field, and a smaller one is not",
        arguments: [(limit - 1, false), (limit, true), (limit + 1, true)],
        [false, true]
    )
    func wideOffset(offset: (UInt64, Bool), hasWideSizes: Bool) {
        let central = record(offset: offset.0, isWide: hasWideSizes).central()
        let isWide = offset.1
        #expect(central.uint32(at: 42) == (isWide ? UInt32.max : UInt32(offset.0)))
        #expect(central.uint16(at: 6) == (isWide || hasWideSizes ? 45 : 20))
        let fields = (hasWideSizes ? 2 : 0) + (isWide ? 1 : 0)
        #expect(central.count == 46 + 1 + 9 + (fields > 0 ? 4 + 8 * fields : 0))
        if isWide { #expect(central.uint64(at: 47 + 4 + 8 * (fields - 1)) == offset.0) }
    }

    @Test(
        "The end record is wide only if a number needs it",
        arguments: [
            (
                EndRecord(entries: 65_534, directoryOffset: limit - 1, directorySize: limit - 1),
                false
            ),
            (EndRecord(entries: 65_535, directoryOffset: 0, directorySize: 0), true),
            (EndRecord(entries: 1, directoryOffset: limit, directorySize: 0), true),
            (EndRecord(entries: 1, directoryOffset: 0, directorySize: limit), true),
            (EndRecord(entries: 0, directoryOffset: 0, directorySize: 0), false),
        ]
    )
    func end(record: EndRecord, isWide: Bool) {
        let bytes = record.encoded()
        guard isWide else {
            #expect(bytes.count == 22)
            #expect(bytes.uint16(at: 10) == UInt16(record.entries))
            #expect(bytes.uint32(at: 12) == UInt32(record.directorySize))
            #expect(bytes.uint32(at: 16) == UInt32(record.directoryOffset))
            return
        }
        #expect(bytes.count == 56 + 20 + 22)
        #expect(bytes.uint32(at: 0) == ZipRecords.zip64EndSignature)
        #expect(bytes.uint64(at: 4) == 44)
        #expect(bytes.uint64(at: 24) == record.entries)
        #expect(bytes.uint64(at: 32) == record.entries)
        #expect(bytes.uint64(at: 40) == record.directorySize)
        #expect(bytes.uint64(at: 48) == record.directoryOffset)
        #expect(bytes.uint32(at: 56) == ZipRecords.zip64LocatorSignature)
        #expect(bytes.uint64(at: 64) == record.directoryOffset + record.directorySize)
        #expect(bytes.uint32(at: 72) == 1)
        #expect(bytes.uint16(at: 76 + 10) == UInt16.max)
        #expect(bytes.uint32(at: 76 + 16) == UInt32.max)
    }

    @Test("Division rounds down, even at the ends of the range")
    func floorDivision() {
        #expect(Int64(7).floorDivided(by: 2) == 3)
        #expect(Int64(-7).floorDivided(by: 2) == -4)
        #expect(Int64(-8).floorDivided(by: 2) == -4)
        #expect(Int64.min.floorDivided(by: 1_000_000_000) == -9_223_372_037)
        #expect(Int64.max.floorDivided(by: 1_000_000_000) == 9_223_372_036)
    }

    @Test("A DOS time survives writing and reading to two seconds")
    func dosTimes() {
        // Midday, far from where a time zone changes its clocks.
        for day in stride(from: Int64(3700), to: 50_000, by: 997) {
            let time = (day * 86_400 + 43_201) * 1_000_000_000
            let (date, clock) = DOSTime.of(time)
            #expect(DOSTime.nanoseconds(date: date, time: clock) == time - 1_000_000_000)
        }
    }

    @Test("An invalid DOS date gives some time and does not crash")
    func impossibleDates() {
        for date in [0, 0x0F, UInt16.max, 0x01E0, 0x0400] as [UInt16] {
            for time in [0, UInt16.max] as [UInt16] {
                let value = DOSTime.nanoseconds(date: date, time: time)
                #expect(abs(value) < 4_400_000_000 * 1_000_000_000)
            }
        }
    }
}
