internal import Changes
internal import Testing

@Suite("Row ids")
struct RowIDTests {
    private let unit = TableName("unit")

    @Test("The id of a key matches the golden vector")
    func keyVector() throws {
        let table = try #require(unit)
        let id = RowID(key: [(try column("name"), .text(Array("kg".utf8)))], in: table)
        #expect(id.description == "ca93b28746cdfe17f44e14c56fbe5149")
    }

    @Test("The id of a content matches the golden vector, for names in any case")
    func contentVector() throws {
        for (table, name) in [("unit", "name"), ("UNIT", "Name")] {
            let id = RowID(
                content: [(try column(name), .value(.text(Array("kg".utf8))))],
                in: try #require(TableName(table)),
                occurrence: 0
            )
            #expect(id.description == "3b2d5391ea0d37674839351ead710888")
        }
    }

    private func column(_ name: String) throws -> ColumnName {
        try #require(ColumnName(name))
    }
}
