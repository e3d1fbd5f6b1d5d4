import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

private let corpus = Fixtures.corpora.appending("coredata")
private let isThere = (try? FileInfo(of: corpus)) != nil

extension Device {
    /// Makes a device with a copy of a store, its log folded in.
    convenience init(
        _ name: String,
        in sandbox: Sandbox,
        folder: any RemoteFolder,
        copyOf path: FilePath
    ) throws {
        try self.init(name, in: sandbox, folder: folder, schema: "SELECT 1")
        try withClosedStore {
            for suffix in ["", "-wal"] {
                let target = FilePath("\(storePath)\(suffix)")
                try LocalFileSystem().remove(target)
                guard try FileInfo.ifPresent(FilePath("\(path)\(suffix)")) != nil else { continue }
                _ = try File.open(FilePath("\(path)\(suffix)")).copy(to: target, syncing: false)
            }
        }
    }
}

/// Stores of Core Data applications, in several versions of their models.
@Suite("Real stores of Core Data", .enabled(if: isThere, "the test data is not there"))
struct RealCoreDataTests {
    let sandbox: Sandbox
    let folder: LocalFolder
    let start = Date(timeIntervalSince1970: 1_790_000_000)

    private static let moody = corpus.appending("objcio+core-data/Migrations/MigrationsTests")
    private static let wire = corpus.appending("wireapp+wire-ios-data-model/Tests/Resources")
    private static let grocery = corpus.appending(
        "birneysky+Grocery-Dude/Grocery Dude/CoreDataModel/DefaultData.sqlite"
    )

    init() throws {
        sandbox = try Sandbox()
        folder = LocalFolder(try sandbox.directory("Container"))
    }

    private func device(_ name: String, _ path: FilePath) throws -> Device {
        try Device(name, in: sandbox, folder: folder, copyOf: path)
    }

    private func stores() throws -> [FilePath] {
        var found: [FilePath] = []
        try Directory.open(corpus).walk(failed: { throw $1 }) {
            if $0.info.kind == .file {
                let file = try $0.directory.file($0.name)
                let start = try file.readExactly(count: Int(min(16, $0.info.size)), at: 0)
                if DatabaseHeader.begins(start) { found.append($0.path.below(corpus)) }
            }
            return .descend
        }
        return found
    }

    private func exchange(_ devices: [Device], at minutes: Double) async throws {
        for device in devices { try await device.sync(at: start + minutes * 60) }
    }

    @Test("show all their references in their models, and one without a model asks the map")
    func models() throws {
        var (columns, values, joins) = (0, 0, 0)
        for (number, path) in try stores().enumerated() {
            let device = try device("s\(number)", path)
            let schema = try device.schema()
            guard try device.tables(all: true).contains("Z_MODELCACHE") else {
                let asked = SyncRefusal.undeclaredReference(
                    table: "ZJOURNALENTRY",
                    column: "ZRATING",
                    parent: nil
                )
                #expect(schema.refusals == [asked])
                continue
            }
            #expect(schema.refusals.isEmpty, "\(path)")
            let own = Set(schema.leftOut.filter { $0.reason == .coreData }.map(\.table))
            #expect(own == ["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"], "\(path)")
            for table in schema.tables {
                let coreData = try #require(table.coreData, "\(path) \(table.name)")
                if coreData.counter == nil { joins += 1 }
                for reference in table.references {
                    let child = table.schema.columns[reference.columns[0]].name
                    // Every value is a key of the table that the model says.
                    let orphans = try device.rows(
                        """
                        SELECT count(\(child)), (SELECT count(*) FROM \(table.name)
                        WHERE \(child) IS NOT NULL AND \(child) NOT IN (SELECT Z_PK FROM \(reference.parent)))
                        FROM \(table.name)
                        """
                    )
                    let counts = orphans[0].split(separator: "|").compactMap { Int($0) }
                    #expect(counts[1] == 0, "\(path) \(table.name).\(child)")
                    columns += 1
                    values += counts[0]
                }
            }
        }
        #expect(columns > 300 && values > 2000 && joins > 40)
    }

    @Test("name a join by the same end, whichever one the application took")
    func joins() throws {
        var names: [[String: [String]]] = []
        for version in ["store2-54-0", "store2-101-0"] {
            let device = try device(version, Self.wire.appending("\(version).wiredatabase"))
            let joins = try device.schema().tables.filter { $0.coreData?.counter == nil }
            names.append(
                Dictionary(
                    uniqueKeysWithValues: joins.map { table in
                        guard case .key(let places) = table.identity else {
                            return (table.wireName, [])
                        }
                        return (
                            table.wireName,
                            places.compactMap { table.coreData?.columns[$0]?.wireName }
                        )
                    }
                )
            )
        }
        // 'Z_18TRUSTEDCLIENTS' in one, 'Z_24TRUSTEDBYCLIENTS' in the other.
        let ends = ["trustedbyclients", "trustedclients"]
        #expect(names.map { $0["userclient.trustedbyclients"] } == [ends, ends])
        #expect(Set(names[0].keys).isSubset(of: names[1].keys))
        #expect(names[0].allSatisfy { names[1][$0.key] == $0.value })
    }

    @Test("of which an update gave subentities tables of their own keep what each has")
    func split() async throws {
        let old = try device("old", Self.moody.appending("Moody 3.moody"))
        let new = try device("new", Self.moody.appending("Moody 4.moody"))
        let mine = "SELECT Z_PK, ZRATING, ZCONTINENT, ZCOUNTRY, ZDATE FROM ZMOOD WHERE Z_PK <= 4"
        let before = try (old.rows(mine), new.rows(mine))
        #expect(before.0.count == 4 && before.1.count == 4)
        let regions = try old.rows("SELECT * FROM ZGEOGRAPHICREGION")
        let countries = try new.rows("SELECT * FROM ZCOUNTRY")
        try await old.enable(at: start)
        try await exchange([old], at: 0)
        try await new.enable(at: start)
        try await exchange([new, old, new, old], at: 1)
        #expect(try old.rows(mine) == before.0)
        #expect(try new.rows(mine) == before.1)
        #expect(try old.rows("SELECT * FROM ZGEOGRAPHICREGION") == regions)
        #expect(try new.rows("SELECT * FROM ZCOUNTRY") == countries)
        // An attribute goes both ways.
        try new.edit("UPDATE ZMOOD SET ZLATITUDE = 1.5 WHERE Z_PK = 1")
        try await exchange([new, old], at: 2)
        #expect(try old.rows("SELECT count(*) FROM ZMOOD WHERE ZLATITUDE = 1.5") == ["1"])
        #expect(try await new.sync(at: start + 300).isQuiet)
    }

    @Test("of one application meet by the names of entities, whatever the numbers of their tables")
    func versions() async throws {
        // 54 names entities by other numbers than 21, and joins 'Z_11USERS' where 21 joins 'Z_9USERS'.
        let old = try device("old", Self.wire.appending("store2-21-1.wiredatabase"))
        let new = try device("new", Self.wire.appending("store2-54-0.wiredatabase"))
        let empty = """
            SELECT count(*) FROM ZMESSAGE UNION ALL SELECT count(*) FROM ZUSER
            UNION ALL SELECT count(*) FROM ZCONVERSATION
            """
        let before = try old.rows(empty)
        #expect(try new.rows(empty) == before)
        try await old.enable(at: start)
        try await exchange([old], at: 0)
        // The other begins with nothing of these.
        for table in try new.tables() { try new.edit("DELETE FROM \(table)") }
        try await new.enable(at: start)
        try await exchange([new, old, new], at: 1)
        #expect(try new.rows(empty) == before)
        // Entities by name, a to-one by the row, a join of two by both rows.
        let messages = """
            SELECT e.Z_NAME, m.ZTIMESTAMP, c.ZUSERDEFINEDNAME FROM ZMESSAGE m
            JOIN Z_PRIMARYKEY e ON e.Z_ENT = m.Z_ENT
            LEFT JOIN ZCONVERSATION c ON c.Z_PK = m.ZVISIBLEINCONVERSATION ORDER BY 1, 2, 3
            """
        #expect(
            try new.rows(messages.replacing("ZTIMESTAMP", with: "ZSERVERTIMESTAMP"))
                == old.rows(messages.replacing("ZTIMESTAMP", with: "ZSERVERTIMESTAMP"))
        )
        let joined = """
            SELECT u.ZNAME, m.ZSERVERTIMESTAMP FROM %table j JOIN ZUSER u ON u.Z_PK = j.%user
            JOIN ZMESSAGE m ON m.Z_PK = j.%message ORDER BY 1, 2
            """
        func users(
            _ device: Device,
            _ table: String,
            _ user: String,
            _ message: String
        ) throws
            -> [String]
        {
            try device.rows(
                joined.replacing("%table", with: table).replacing("%user", with: user)
                    .replacing("%message", with: message)
            )
        }
        let found = try users(old, "Z_9USERS", "Z_14USERS1", "Z_9SYSTEMMESSAGES")
        #expect(found.count > 20)
        #expect(try users(new, "Z_11USERS", "Z_17USERS1", "Z_11SYSTEMMESSAGES") == found)
        // New keys are counted where Core Data counts them, and writes where it looks for them.
        #expect(
            try new.rows(
                """
                SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 AND Z_NAME = 'Message'
                AND Z_MAX >= (SELECT max(Z_PK) FROM ZMESSAGE)
                """
            ) == ["Message"]
        )
        #expect(try new.rows("SELECT DISTINCT Z_OPT FROM ZUSER") == ["1"])
        try new.edit("UPDATE ZUSER SET ZNAME = 'Zoë' WHERE Z_PK = (SELECT min(Z_PK) FROM ZUSER)")
        try new.edit("DELETE FROM Z_11USERS WHERE rowid = (SELECT min(rowid) FROM Z_11USERS)")
        let counts = try old.rows("SELECT sum(Z_OPT) FROM ZUSER")
        try await exchange([new, old], at: 2)
        #expect(try old.rows("SELECT count(*) FROM ZUSER WHERE ZNAME = 'Zoë'") == ["1"])
        #expect(
            try users(old, "Z_9USERS", "Z_14USERS1", "Z_9SYSTEMMESSAGES").count == found.count - 1
        )
        let sum = try #require(Int(counts[0]))
        #expect(try old.rows("SELECT sum(Z_OPT) FROM ZUSER") == ["\(sum + 1)"])
        try await exchange([old, new], at: 3)
        #expect(try await new.sync(at: start + 300).isQuiet)
    }
}

extension Device {
    /// The tables that sync, or all.
    fileprivate func tables(all: Bool = false) throws -> [String] {
        let own: Set = all ? [] : ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
        return try rows("SELECT name FROM sqlite_schema WHERE type = 'table'").filter {
            !own.contains($0)
        }
    }

    /// What syncs, without a map.
    fileprivate func schema() throws -> SyncSchema {
        let cut = try StoresCut(
            of: [store],
            scratchParent: root.appending("scratch"),
            busyTimeout: .zero
        )
        let snapshot = try #require(cut.members.first?.snapshot)
        return try SyncSchema(of: snapshot, rules: SchemaRules())
    }
}
