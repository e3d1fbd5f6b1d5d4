import Files
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// The report of a store beside its pages.
@Suite("The report of a store")
struct StoreReportTests {
    let sandbox: Sandbox
    let directory: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
    }

    private func report(after statements: [String]) throws -> StoreReport {
        let writer = try StoreApplication(on: directory.appending("a.sqlite"))
        for statement in statements { try writer.run(statement) }
        return try Store("a.sqlite", in: directory)
            .snapshot(scratch: sandbox.directory("Scratch"))
            .report(hasSupportDirectory: true)
    }

    private func name(_ number: Int) -> String {
        let digits = String(number)
        return "5F2C1E4A-0B7D-4E7A-8C55-" + String(repeating: "0", count: 12 - digits.count)
            + digits
    }

    private func reference(_ number: Int) -> String {
        "CAST(x'02' || '\(name(number))' || x'00' AS BLOB)"
    }

    @Test("has every reference to external data, in whatever column of blobs it is")
    func references() throws {
        // More columns than one expression of SQLite may have terms.
        let columns = (1...1200).map { "c\($0) BLOB" }.joined(separator: ", ")
        let report = try report(after: [
            "CREATE TABLE wide (\(columns), note TEXT)",
            "INSERT INTO wide (c1, c700, c1200) VALUES (\(reference(1)), NULL, \(reference(2)))",
            "INSERT INTO wide (c2, c700) VALUES (zeroblob(100000), \(reference(3)))",
            "CREATE TABLE \"an \"\"odd\"\" one\" (\"odd \"\"name\" BLOB)",
            "INSERT INTO \"an \"\"odd\"\" one\" VALUES (\(reference(4)))",
        ])
        #expect(report.facts.tables.map(\.rows) == [1, 2])
        #expect(report.externalReferences == Set((1...4).map(name)))
        #expect(report.damage.isEmpty)
    }

    @Test("takes nothing for a reference that only looks like one")
    func noReferences() throws {
        let report = try report(after: [
            "CREATE TABLE t (b BLOB, note TEXT)",
            // A text as long, a blob that does not begin or end as one, one that is no UUID.
            "INSERT INTO t (b) VALUES (x'02' || '\(name(1))' || 'x')",
            "INSERT INTO t (b) VALUES (CAST(x'03' || '\(name(2))' || x'00' AS BLOB))",
            "INSERT INTO t (b) VALUES (CAST(x'02' || '\(name(3))' || x'01' AS BLOB))",
            "INSERT INTO t (b) VALUES (CAST(x'02' || replace('\(name(4))', 'A', 'G') || x'00' AS BLOB))",
            // Core Data keeps references in columns of blobs only.
            "INSERT INTO t (note) VALUES (\(reference(5)))",
        ])
        #expect(report.externalReferences.isEmpty)
        #expect(report.facts.tables.map(\.rows) == [5])
    }
}
