internal import Changes
internal import Testing

@Suite("Clocks and names")
struct WordTests {
    @Test("A clock follows the wall clock and never goes back")
    func clock() {
        var clock = HybridClock()
        #expect(clock.tick(now: 1000, modified: 900) == 900 << 16)
        #expect(clock.tick(now: 1000, modified: 900) == 900 << 16 + 1)
        #expect(clock.tick(now: 5, modified: 900) == 900 << 16 + 2)
        clock.observe(2000 << 16)
        clock.observe(3)
        #expect(clock.tick(now: 1500, modified: 1500) == 2000 << 16 + 1)
        #expect(clock.tick(now: 2001, modified: 3000) == 2001 << 16)
        #expect(HybridClock.milliseconds(of: clock.last) == 2001)
    }

    @Test("An absurd wall clock is ignored")
    func absurd() {
        var clock = HybridClock(last: 10)
        #expect(clock.tick(now: HybridClock.unbelievable, modified: 500) == 11)
        #expect(clock.tick(now: -5, modified: 500) == 12)
        #expect(clock.tick(now: .min, modified: .max) == 13)
        #expect(clock.tick(now: .max, modified: .max) == 14)
        clock.observe(.max)
        #expect(clock.tick(now: 1, modified: 1) == HybridClock.limit - 1)
        #expect(clock.tick(now: 1, modified: 1) == HybridClock.limit - 1)
    }

    @Test("Names are equal in any ASCII case, and else by their bytes")
    func names() throws {
        #expect(TableName("Item") == TableName("ITEM"))
        #expect(TableName("É") != TableName("é"))
        #expect(TableName("\u{E9}") != TableName("e\u{301}"))
        #expect(TableName("") == nil)
        #expect(TableName("a\0") == nil)
        #expect(TableName(bytes: [0xFF]) == nil)
        #expect(TableName(String(repeating: "a", count: 1024)) != nil)
        #expect(TableName(String(repeating: "a", count: 1025)) == nil)
        #expect(TableName.of("Möbel").description == "möbel")
    }

    @Test("A schema's column that looks like one of sync's own travels with one more #")
    func escapes() throws {
        let same = try #require(ColumnName("#SAME"))
        #expect(same != .same)
        #expect(same.description == "##same")
        #expect(same.schemaName == "#same")
        #expect(!same.isReserved)
        #expect(ColumnName.same.isReserved)
        #expect(ColumnName.same.schemaName == nil)
        #expect(ColumnName("##x")?.description == "###x")
        #expect(ColumnName("##x")?.schemaName == "##x")
        #expect(ColumnName("a#")?.description == "a#")
        #expect(ColumnName(bytes: Array("#same".utf8)) == .same)
    }

    @Test("Reading an id returns the id that was written")
    func identifiers() throws {
        let id = RowID(randomHigh: 0x0123_4567_89AB_CDEF, randomLow: 0xFEDC_BA98, count: 258)
        #expect(id.description == "0123456789abcdeffedcba9800000102")
        #expect(RowID(hex: id.description) == id)
        #expect(RowID(bytes: id.bytes) == id)
        #expect(RowID(hex: id.description.uppercased()) == nil)
        #expect(RowID(hex: "+" + id.description.dropFirst()) == nil)
        #expect(RowID(hex: id.description.dropLast()) == nil)
        #expect(RowID(bytes: id.bytes.dropLast()) == nil)
        #expect(RowID(high: 1, low: .max) < RowID(high: 2, low: 0))
        #expect(DeviceID(high: 0xAB << 56, low: 0).shortDescription == "ab000000")
    }
}
