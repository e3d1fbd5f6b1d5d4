import Files
import Testing

@testable import Sync

@Suite("A parent that does not sync")
struct LeftOutParentTests {
    @Test("refuses a reference by value to a table without a key; the map may say that it is none")
    func leftOutByItself() throws {
        func refusals(_ rule: (inout SchemaRules) -> Void) throws -> [SyncRefusal] {
            try SchemaSandbox().schema(
                "CREATE TABLE code (k UNIQUE)",
                "CREATE TABLE item (id INTEGER PRIMARY KEY, b REFERENCES code(k))",
                change: rule
            ).refusals
        }
        let byValue = SyncRefusal.referenceToLeftOut(
            table: "item",
            column: "b",
            parent: "code",
            isByValue: true
        )
        #expect(try refusals { _ in } == [byValue])
        #expect(try refusals { $0["item"].references = ["b": .none] } == [])
        #expect(try refusals { $0["code"].identity = ["k"] } == [])
        #expect(try refusals { $0.exclude = ["code", "item"] } == [])
    }
}
