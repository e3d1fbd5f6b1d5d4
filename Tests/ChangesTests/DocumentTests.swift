internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Changes

@Suite("Documents")
struct DocumentTests {
    private static let header = DocumentHeader(
        group: GroupID(high: 1, low: 2),
        device: DeviceID(high: 3, low: 4),
        clock: 99
    )

    @Test("Reading returns the group's marker that was written")
    func group() throws {
        let mark = GroupMark(
            group: try #require(GroupName("grocery-dude")),
            id: GroupID(high: 1, low: 2),
            made: Date(timeIntervalSince1970: 1_795_281_475.75),
            after: [GroupID(high: 5, low: 6)]
        )
        #expect(try again(mark) == mark)
        #expect(
            try text(mark)
                == #"{"after":["00000000000000050000000000000006"],"format":1,"#
                + #""group":"grocery-dude","id":"00000000000000010000000000000002","#
                + #""made":"2026-11-21T17:17:55Z"}"#
        )
    }

    @Test("Reading returns the device's card that was written")
    func card() throws {
        var card = DeviceCard(
            name: "desk\u{1B}[31m",
            program: "grocerydude 1.0",
            schema: SchemaID(high: 7, low: 8),
            seen: [
                SeenClock(device: DeviceID(high: 9, low: 1), clock: HybridClock.limit - 1),
                SeenClock(device: DeviceID(high: 3, low: 1), clock: 0),
            ],
            was: [DeviceID(high: 1, low: 1)]
        )
        #expect(try again(card) == card)
        card.gone = DeviceID(high: 2, low: 2)
        #expect(try again(card) == card)
    }

    @Test("A map is read as a person writes it, and as it was written")
    func map() throws {
        let json = """
            {"tables":{"Settings":{"identity":["Key"],"key":"shared","was":"old name","columns":
            {"new":{"was":"old"}},"references":{"list_id":"list","x_id":"none"},
            "local":["cached"]}},
            "exclude":["log"],"triggers":{"T":"skip","u":"run"}}
            """
        let map = try SyncMap(json: Array(json.utf8), name: "f")
        let table = try #require(map.tables[.of("settings")])
        #expect(table.identity == [.of("key")])
        #expect(table.sharesKey)
        #expect(table.was == .of("old name"))
        #expect(table.renamed == [.of("new"): .of("old")])
        #expect(table.references == [.of("list_id"): .table(.of("list")), .of("x_id"): .none])
        #expect(table.local == [.of("cached")])
        #expect(map.exclude == [.of("log")])
        #expect(map.triggers == [.of("t"): .skip, .of("u"): .run])
        #expect(try again(map) == map)
        #expect(try SyncMap(json: map.json(), name: "f") == map)
        #expect(try SyncMap(json: Array("{}".utf8), name: "f") == SyncMap())
    }

    @Test("A map of a later version is read, but mistakes in it are reported")
    func otherKeys() throws {
        for (json, key) in [
            (#"{"references":{"item.list_id":"list"}}"#, "references"),
            (#"{"tables":{"a":{"identify":["x"]}}}"#, "identify"),
            (#"{"tables":{"a":{"columns":{"x":{"is":"y"}}}}}"#, "is"),
        ] {
            _ = try JSONText.decode(SyncMap.self, from: Array(json.utf8))
            let error = #expect(throws: ChangeError.self) {
                try SyncMap(json: Array(json.utf8), name: "f")
            }
            #expect(error?.description.contains("'\(key)' cannot be here") == true)
        }
    }

    @Test(
        "A map that contradicts itself is refused",
        arguments: [
            "", "[]", "{\"tables\":1}", #"{"tables":{"a":{},"A":{}}}"#,
            #"{"tables":{"a":{"key":"mine"}}}"#, #"{"tables":{"a":{"identity":[]}}}"#,
            #"{"tables":{"a":{"identity":[""]}}}"#, #"{"triggers":{"t":"maybe"}}"#,
            #"{"tables":{"a":{"was":"c"},"b":{"was":"C"}}}"#,
            #"{"tables":{"a":{"columns":{"x":{"was":"z"},"y":{"was":"Z"}}}}}"#,
            #"{"exclude":"log"}"#, #"{"tables":{"":{}}}"#,
            "{\"tables\":{\"\u{E9}\":{},\"a\":{\"was\":\"\\u0000\"}}}",
        ]
    )
    func badMap(json: String) {
        #expect(throws: ChangeError.self) { try SyncMap(json: Array(json.utf8), name: "f") }
    }

    @Test("JSON that is nested too deep, or too long, is refused before it is parsed")
    func limits() throws {
        func nested(_ depth: Int) -> [UInt8] {
            let inner = String(repeating: "[", count: depth - 1)
            let close = String(repeating: "]", count: depth - 1)
            return Array("{\"x\":\(inner)\(close)}".utf8)
        }
        _ = try JSONText.decode(SyncMap.self, from: nested(8))
        for depth in [9, 100_000] {
            #expect(
                throws: ChangeError.malformed("f", reason: "its JSON is nested too deep")
            ) { try SyncMap(json: nested(depth), name: "f") }
        }
        // Brackets inside a string do not count as nesting.
        let text = Array(#"{"x":"[[[[[[[[[[[[\"[[[[[["}"#.utf8)
        _ = try JSONText.decode(SyncMap.self, from: text)
        let long = Array("{}".utf8) + [UInt8](repeating: 32, count: 1 << 20)
        #expect(throws: ChangeError.malformed("f", reason: "its JSON is over 1 MiB")) {
            try SyncMap(json: long, name: "f")
        }
    }

    @Test("An impossible card or marker is refused")
    func badDocuments() throws {
        let schema = String(repeating: "0", count: 32)
        let device = String(repeating: "1", count: 32)
        let cards = [
            "{}", #"{"name":"a","program":"b","schema":"0"}"#,
            #"{"name":"a","program":"b","schema":"\#(schema)","seen":{"x":"0"}}"#,
            #"{"name":"a","program":"b","schema":"\#(schema)","seen":{"\#(device)":"ff00000000000000"}}"#,
            #"{"name":"a","program":"b","schema":"\#(schema)","gone":"me"}"#,
            #"{"name":"\#(String(repeating: "a", count: 1025))","program":"b","schema":"\#(schema)"}"#,
        ]
        for card in cards {
            #expect(throws: ChangeError.self, "\(card)") {
                try DocumentFile<DeviceCard>(
                    reading: file(.card, card),
                    name: "f",
                    inflate: inflate
                )
            }
        }
        let marks = [
            #"{"format":1,"group":"A","id":"\#(schema)","made":"2026-11-21T17:17:55Z"}"#,
            #"{"format":0,"group":"a","id":"\#(schema)","made":"2026-11-21T17:17:55Z"}"#,
            #"{"format":1,"group":"a","id":"\#(schema)","made":"yesterday"}"#,
        ]
        for mark in marks {
            #expect(throws: ChangeError.self, "\(mark)") {
                try DocumentFile<GroupMark>(
                    reading: file(.group, mark),
                    name: "f",
                    inflate: inflate
                )
            }
        }
        let whole = #"{"format":2,"group":"a","id":"\#(schema)","made":"2026-11-21T17:17:55Z"}"#
        let read = try DocumentFile<GroupMark>(
            reading: file(.group, whole),
            name: "f",
            inflate: inflate
        )
        #expect(read.content.format == 2)
        #expect(throws: ChangeError.otherKind("f", kind: .group)) {
            try DocumentFile<DeviceCard>(reading: file(.group, whole), name: "f", inflate: inflate)
        }
    }

    @Test("A damaged document is refused or read, and does nothing else")
    func fuzzed() throws {
        let json = try text(
            DeviceCard(name: "desk", program: "p", schema: .zero, was: [DeviceID(high: 1, low: 1)])
        )
        for seed in Fuzzing(usual: 1000) {
            var random = Pseudorandom(seed: seed)
            var bytes = Array(json.utf8)
            _ = random.damage(&bytes)
            let file = try file(.card, String(decoding: bytes, as: UTF8.self))
            do {
                _ = try DocumentFile<DeviceCard>(reading: file, name: "f", inflate: inflate)
            } catch is ChangeError {}
        }
    }

    private func file(_ kind: FileKind, _ json: String) throws -> [UInt8] {
        let header = Self.header.group.bytes + Self.header.device.bytes + [0, 0, 0, 0, 0, 0, 0, 9]
        return try Envelope.write(kind, header: header, body: Array(json.utf8)).bytes
    }

    private func again<Content: Document>(_ content: Content) throws -> Content {
        let file = try DocumentFile<Content>.write(Self.header, content)
        let read = try DocumentFile<Content>(reading: file.bytes, name: "f", inflate: inflate)
        #expect(read.header == Self.header)
        #expect(read.id == file.id)
        return read.content
    }

    private func text<Content: Document>(_ content: Content) throws -> String {
        let file = try DocumentFile<Content>.write(Self.header, content)
        let body = try Envelope(reading: file.bytes, name: "f", inflate: inflate).body
        return String(decoding: body, as: UTF8.self)
    }
}
