import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite("The record of a store in a manifest")
struct StoreFactsTests {
    /// As manifests are written and read.
    private func decode(_ text: String) throws -> StoreFacts {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(StoreFacts.self, from: Data(text.utf8))
    }

    private func encode(_ facts: StoreFacts) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys]
        return try String(decoding: encoder.encode(facts), as: UTF8.self)
    }

    private func text(kind: String = "core_data", rows: String = #","rows":7"#) -> String {
        #"{"application_id":1,"journal_mode":"wal","kind":"\#(kind)","page_count":3,"page_size":4096,"path":"a.sqlite","tables":[{"name":"t"\#(rows)}],"user_version":2}"#
    }

    @Test("is written under the keys of the format, and read from them")
    func keys() throws {
        let facts = try decode(text())
        #expect(facts.kind == .coreData && facts.tables.map(\.rows) == [7])
        #expect(facts.applicationID == 1 && facts.userVersion == 2)
        #expect(try encode(facts) == text())
    }

    @Test("is read with a kind of a newer version, and counts that are none")
    func lenience() throws {
        let kind = try decode(text(kind: "newer"))
        #expect(kind.kind.rawValue == "newer")
        #expect(try encode(kind) == text(kind: "newer"))
        #expect(try decode(text(rows: #","rows":-1"#)).tables.map(\.rows) == [nil])
        #expect(try decode(text(rows: #","rows":null"#)).tables.map(\.rows) == [nil])
        let none = try decode(text(rows: ""))
        #expect(none.tables.map(\.rows) == [nil])
        #expect(try encode(none) == text(rows: ""))
        #expect(throws: DecodingError.self) { try decode(text(rows: #","rows":"many""#)) }
    }

    @Test("names its store")
    func path() throws {
        let sandbox = try Sandbox()
        let directory = try sandbox.directory("Stores")
        try StoreApplication(on: directory.appending("b.sqlite"), "CREATE TABLE t (x)").end()
        let snapshot = try Store("b.sqlite", in: directory)
            .snapshot(scratch: sandbox.directory("Scratch"))
        let facts = try snapshot.report(hasSupportDirectory: false).facts
        #expect(facts.path == "b.sqlite" && facts.kind == .sqlite)
        #expect(try decode(encode(facts)) == facts)
    }
}
