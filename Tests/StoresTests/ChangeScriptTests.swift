import CSQLite
import Files
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite("A script of changes")
struct ChangeScriptTests {
    private let sandbox: Sandbox
    private let directory: FilePath

    init() throws {
        sandbox = try Sandbox.inMemory()
        directory = try sandbox.directory("Stores")
        try sandbox.directory("Scratch")
    }

    private func snapshot(_ name: String) throws -> StoreSnapshot {
        try Store(name, in: directory).snapshot(scratch: sandbox.path.appending("Scratch"))
    }

    private func statements(from old: String, to new: String) throws -> [String] {
        let diff = try StoreDiff(
            from: ReadableStore(snapshot(old)),
            to: ReadableStore(snapshot(new))
        )
        var statements: [String] = []
        try ChangeScript(diff).write { statements.append($0) }
        return statements
    }

    /// Runs a script on a copy of the old store, by SQLite itself or by its shell.
    private func apply(
        _ statements: [String],
        to old: String,
        byShell: Bool
    ) throws -> FilePath {
        let result = directory.appending("result.sqlite")
        try LocalFileSystem().remove(result)
        _ = try File.open(directory.appending(old)).copy(to: result, syncing: false)
        if byShell {
            let script = try sandbox.write(statements.joined(separator: "\n"), to: "script.sql")
            try Tool.check("sqlite3", ["-bail", result.string, ".read \(script.string)"])
            return result
        }
        try DatabaseContent.with(result) { handle in
            for statement in statements {
                let code = sqlite3_exec(handle, statement, nil, nil, nil)
                try #require(
                    code == SQLITE_OK,
                    "\(statement.prefix(300)): \(String(cString: sqlite3_errmsg(handle)))"
                )
            }
        }
        return result
    }

    @Test("turns a store into any other, row for row and byte for byte")
    func random() throws {
        let cases = Fuzzing(usual: 120)
        var verdicts: [String: Int] = [:]
        for seed in cases {
            var store = RandomStore(seed: seed)
            let creation = store.creation(inUTF16: seed % 9 == 0)
            for name in ["old.sqlite", "new.sqlite", "result.sqlite"] {
                try LocalFileSystem().remove(directory.appending(name))
            }
            try DatabaseContent.run(creation, on: directory.appending("old.sqlite"))
            // One in ten is another store altogether.
            var other = RandomStore(seed: ~seed)
            let base = seed % 10 == 0 ? other.creation(inUTF16: seed % 9 == 0) : creation
            try DatabaseContent.run(base, on: directory.appending("new.sqlite"))
            try DatabaseContent.run(store.edits(), on: directory.appending("new.sqlite"))
            let (old, new) = (
                try DatabaseContent.lines(of: directory.appending("old.sqlite")),
                try DatabaseContent.lines(of: directory.appending("new.sqlite"))
            )
            // SQLite itself loses track of some indexes on expressions.
            guard try DatabaseContent.isSound(directory.appending("old.sqlite")),
                try DatabaseContent.isSound(directory.appending("new.sqlite"))
            else {
                verdicts["damaged by SQLite", default: 0] += 1
                continue
            }
            do {
                let script = try statements(from: "old.sqlite", to: "new.sqlite")
                let result = try apply(script, to: "old.sqlite", byShell: seed % 50 == 7)
                let found = try DatabaseContent.lines(of: result)
                #expect(Self.differences(found, new).isEmpty, "seed \(seed)")
                if old == new { #expect(script.isEmpty, "seed \(seed)") }
                try expectCounts(old, new, seed)
                verdicts[script.isEmpty ? "equal" : "changed", default: 0] += 1
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        cases.report("scripts of changes", verdicts)
    }

    /// Holds the counts of each table to its rows as SQLite's own interface gives them.
    private func expectCounts(_ old: [String], _ new: [String], _ seed: UInt64) throws {
        let diff = try StoreDiff(
            from: ReadableStore(snapshot("old.sqlite")),
            to: ReadableStore(snapshot("new.sqlite"))
        )
        for pair in diff.tables where pair.isSameTable {
            // A row that is known by another key may have another rowid.
            guard let table = pair.new, table.isWithoutRowID || diff.identity(of: pair) == .rowID,
                let counts = try? diff.counts(of: pair)
            else { continue }
            let before = Set(old.filter { $0.hasPrefix("\(table.name): ") })
            let after = Set(new.filter { $0.hasPrefix("\(table.name): ") })
            let gone = before.subtracting(after).count
            let come = after.subtracting(before).count
            #expect(counts.removed + counts.changed == Int64(gone), "seed \(seed), \(table.name)")
            #expect(counts.added + counts.changed == Int64(come), "seed \(seed), \(table.name)")
            var told = RowCounts()
            try diff.forEachChange(of: pair) { change in
                switch change.kind {
                case .added: told.added += 1
                case .removed: told.removed += 1
                case .changed: told.changed += 1
                }
                return true
            }
            #expect(told == counts, "seed \(seed), \(table.name)")
        }
    }

    private static func differences(_ found: [String], _ expected: [String]) -> [String] {
        let (isThere, isWanted) = (Set(found), Set(expected))
        return found.filter { !isWanted.contains($0) }.prefix(5).map { "has \($0)" }
            + expected.filter { !isThere.contains($0) }.prefix(5).map { "lacks \($0)" }
            + (found.count == expected.count ? [] : ["\(found.count) lines, not \(expected.count)"])
    }

    @Test("says nothing of equal stores, and little of a small change")
    func short() throws {
        let create = [
            "CREATE TABLE t (id INTEGER PRIMARY KEY, x, y)",
            "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
        ]
        try DatabaseContent.run(create, on: directory.appending("old.sqlite"))
        try DatabaseContent.run(
            create + [
                "UPDATE t SET y = 1.0 WHERE id = 1", "DELETE FROM t WHERE id = 3",
                "INSERT INTO t VALUES (7, X'00', NULL)",
            ],
            on: directory.appending("new.sqlite")
        )
        #expect(try statements(from: "old.sqlite", to: "old.sqlite") == [])
        #expect(
            try statements(from: "old.sqlite", to: "new.sqlite") == [
                "PRAGMA foreign_keys = OFF;", "PRAGMA ignore_check_constraints = ON;", "BEGIN;",
                #"UPDATE main."t" SET "y" = 1.0 WHERE "id" = 1;"#,
                #"DELETE FROM main."t" WHERE "id" = 3;"#,
                #"INSERT INTO main."t" ("id", "x", "y") VALUES (7, X'00', NULL);"#,
                "COMMIT;", "PRAGMA ignore_check_constraints = OFF;",
            ]
        )
    }
}
