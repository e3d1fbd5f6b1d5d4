import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The stores directories")
struct StoresFixtureTests {
    private let scene: FixtureScene

    init() throws {
        scene = try FixtureScene()
    }

    /// A stores directory, and what a backup of it has to say and hold.
    struct StoresFixture: Sendable, CustomTestStringConvertible {
        var name: String
        /// The backup's exit code.
        var status: Int32 = 0
        /// What it says.
        var words: [String] = []
        /// A query of a file of it, and its row.
        var query: (file: String, sql: String, row: String)?
        /// What the manifest counts.
        var tables: [String: Int?] = [:]
        /// Files that come back changed, since what SQLite kept beside them is folded in.
        var folded: Set<String> = []
        /// Files that do not come back.
        var dropped: Set<String> = []
        /// Whether a restore may take what is damaged.
        var allowsDamage = false
        /// What a restore says that may not, and refuses the store.
        var refusal: String?

        var testDescription: String { name }
    }

    static let stores = [
        StoresFixture(
            name: "log",
            query: (
                "log.sqlite", "SELECT count(*), min(id), max(id), max(text) FROM entry",
                "50|1|50|entry 9"
            ),
            tables: ["entry": 50],
            folded: ["log.sqlite"],
            dropped: ["log.sqlite-wal", "log.sqlite-shm"]
        ),
        StoresFixture(
            name: "log-without-index",
            query: (
                "log.sqlite", "SELECT count(*), min(id), max(id), max(text) FROM entry",
                "50|1|50|entry 9"
            ),
            tables: ["entry": 50],
            folded: ["log.sqlite"],
            dropped: ["log.sqlite-wal"]
        ),
        StoresFixture(
            name: "journal",
            query: (
                "journal.sqlite", "SELECT count(*), min(balance), max(balance) FROM account",
                "12|1000|1000"
            ),
            tables: ["account": 12],
            folded: ["journal.sqlite"],
            dropped: ["journal.sqlite-journal"]
        ),
        StoresFixture(
            name: "core-data",
            status: 3,
            words: [
                "'.Model_SUPPORT/_EXTERNAL_DATA/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03'",
                "a store refers to this file, and it is not there",
            ],
            query: (
                "Model.sqlite", "SELECT group_concat(ZNAME), sum(length(ZPHOTO) = 38) FROM ZITEM",
                "Apples,Bread,Cheese,Dates|3"
            ),
            tables: ["ZITEM": 4, "Z_METADATA": 1, "Z_MODELCACHE": 0, "Z_PRIMARYKEY": 1]
        ),
        StoresFixture(
            name: "collation",
            query: ("collation.sqlite", "SELECT count(*) FROM name NOT INDEXED", "3"),
            tables: ["name": 3]
        ),
        StoresFixture(
            name: "module",
            query: ("module.sqlite", "SELECT group_concat(text) FROM note", "one,two"),
            tables: ["note": 2, "note_index_data": 1]
        ),
        StoresFixture(
            name: "damaged",
            status: 3,
            words: ["'damaged.sqlite': SQLite finds it damaged: "],
            query: ("damaged.sqlite", "SELECT text FROM sound", "whole"),
            tables: ["sound": 1, "broken": nil],
            allowsDamage: true,
            refusal: "the store 'damaged.sqlite' is damaged: "
        ),
        StoresFixture(
            name: "header-only",
            status: 3,
            words: [
                "'header.sqlite': SQLite finds it damaged: ",
                "'magic.sqlite': SQLite finds it damaged: it has no whole SQLite header",
                "saved as",
            ],
            allowsDamage: true
        ),
        StoresFixture(name: "empty", status: 3, words: ["no store is in '"]),
        StoresFixture(name: "encrypted"),
    ]

    @Test("Every stores directory has its line in the table")
    func storesAreAllTested() throws {
        #expect(try Fixtures.names(in: "stores") == Set(Self.stores.map(\.name)))
    }

    @Test(
        "A stores directory is saved without a change of any byte, and is restored",
        arguments: stores
    )
    func savesAndRestores(fixture: StoresFixture) throws {
        try Fixtures.copy("stores/\(fixture.name)", into: scene.sandbox, as: "Work/Stores")
        let before = try scene.sandbox.contents(of: "Work")
        let backup = try scene.run("backup")
        #expect(backup.status == fixture.status, "\(backup.errors)")
        for word in fixture.words { #expect(backup.errors.contains(word), "\(backup.errors)") }
        #expect(fixture.status == 3 || !backup.errors.contains("warning"), "\(backup.errors)")
        #expect(try scene.sandbox.contents(of: "Work") == before)
        #expect(try scene.names(in: "Temporary") == [])
        try expectTables(of: fixture)

        if let refusal = fixture.refusal {
            let refused = try scene.run("restore", "latest", "--yes", stores: "New/Stores")
            #expect(refused.status == 21)
            #expect(refused.errors.contains(refusal), "\(refused.errors)")
            #expect(refused.errors.contains("--allow-damaged"), "\(refused.errors)")
            // Which one it is, that it is partial, and of another stores directory, is said before.
            #expect(refused.errors.split(separator: "\n").count == 5, "\(refused.errors)")
            #expect(try scene.names(in: "New") == [])
        }
        let options = fixture.allowsDamage ? ["--allow-damaged"] : []
        try expectRestored(fixture, options, to: "New/Stores")
        // Over itself too, with what a crash left there.
        try expectRestored(fixture, options, to: "Work/Stores")
        #expect(try scene.names(in: "Temporary") == [])
    }

    @Test("A test restore of a backup lists the files that its stores refer to and lack")
    func rehearsal() throws {
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Work/Stores")
        #expect(try scene.run("backup").status == 3)
        let tried = try scene.run(
            "restore",
            "latest",
            "--target",
            scene.sandbox.path("Target").string
        )
        #expect(tried.status == 3)
        let missing =
            "'.Model_SUPPORT/_EXTERNAL_DATA/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03': a store refers"
        #expect(tried.errors.contains(missing), "\(tried.errors)")
        #expect(scene.sandbox.exists("Target/Model.sqlite"))
        // With the file there, all is well.
        let support = ".Model_SUPPORT/_EXTERNAL_DATA/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
        try scene.sandbox.write("a photo", to: "Work/Stores/\(support)")
        #expect(try scene.run("backup").status == 0)
        let whole = try scene.json(
            scene.run("restore", "latest", "--target", scene.sandbox.path("Whole").string, "--json")
        )
        #expect((whole["problems"] as? [Any])?.count == 0)
    }

    private func expectTables(of fixture: StoresFixture) throws {
        let shown = try scene.json(scene.run("show", "latest", "--json"))
        let stores = try #require(shown["stores"] as? [[String: Any]])
        let tables = stores.flatMap { $0["tables"] as? [[String: Any]] ?? [] }
        #expect(Set(tables.compactMap { $0["name"] as? String }) == Set(fixture.tables.keys))
        for table in tables {
            let name = table["name"] as? String ?? ""
            #expect(fixture.tables[name] == .some(table["rows"] as? Int), "\(name)")
        }
        let kinds = stores.map { $0["kind"] as? String }
        #expect(kinds.contains("core_data") == (fixture.name == "core-data"))
    }

    private func expectRestored(
        _ fixture: StoresFixture,
        _ options: [String],
        to stores: String
    ) throws {
        let name = try #require(scene.names(in: "Remote").first { !$0.contains("(") })
        let outcome = try Tool.run(
            Tool.product("grocerydude"),
            ["restore", name, "--yes", "--check", "full"] + options + [
                "--stores", scene.sandbox.path(stores).string, "--remote",
                scene.sandbox.path("Remote").string,
            ],
            environment: [
                "HOME": scene.sandbox.path.string, "XDG_CACHE_HOME": "",
                "TMPDIR": scene.sandbox.path("Temporary").string,
            ]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let parent = FilePath(stores).removingLastComponent().string
        #expect(try scene.names(in: parent) == ["Stores"])
        func files(_ contents: Contents) -> [String: String] {
            let files = contents.items.filter { $0.kind == .file }
            return Dictionary(uniqueKeysWithValues: files.map { ($0.path.description, $0.detail) })
        }
        let restored = try files(scene.sandbox.contents(of: stores))
        let original = try files(
            Contents(of: Fixtures.path.appending("stores/\(fixture.name)"))
        )
        #expect(Set(restored.keys) == Set(original.keys).subtracting(fixture.dropped))
        for (file, digest) in restored {
            #expect((digest == original[file]) == !fixture.folded.contains(file), "\(file)")
        }
        if let query = fixture.query {
            let store = scene.sandbox.path("\(stores)/\(query.file)")
            #expect(try row(in: store, query.sql) == query.row)
            if !fixture.allowsDamage, !["collation", "module"].contains(fixture.name) {
                #expect(try row(in: store, "PRAGMA integrity_check") == "ok")
            }
        }
    }
}
