import Files
import Foundation
import GRDB
import Remotes
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Finding rows in all backups")
struct FindRowsTests {
    private static let seed: UInt64 = 20_261_125
    private let scene: IncrementScene

    init() throws {
        scene = try IncrementScene(seed: Self.seed)
    }

    private func find(
        _ wanted: RowSearch.Wanted,
        in folder: BackupFolder? = nil,
        _ change: (inout FindRows.Options) -> Void = { _ in }
    ) async throws -> FindRows.Outcome {
        let folder = folder ?? scene.scene.folder()
        var options = FindRows.Options(wanted)
        change(&options)
        return try await FindRows(
            in: folder,
            with: scene.scene.stores,
            options: options,
            context: scene.scene.context()
        ).run(among: folder.list().backups)
    }

    private func find(
        _ text: String,
        in folder: BackupFolder? = nil,
        _ change: (inout FindRows.Options) -> Void = { _ in }
    ) async throws -> FindRows.Outcome {
        try await find(.text(#require(TextPattern(text))), in: folder, change)
    }

    private func sql(_ text: String, _ store: String = "store.sqlite") throws {
        try scene.write(store) { try $0.execute(sql: text) }
    }

    private func number(_ place: RowHistory.Place?) -> String {
        switch place {
        case .live?: "live"
        case .backup(let backup)?: scene.names.firstIndex(of: backup.name).map(String.init) ?? "?"
        case nil: "-"
        }
    }

    /// What happened, in short: the number of the backup, and the change.
    private func story(_ row: RowHistory) -> [String] {
        func text(_ cells: [RowChange.Cell]) -> String {
            cells.filter { $0.column == "name" }
                .map { cell in
                    [cell.old, cell.new].compactMap(\.self).map { value in
                        if case .stored(.text(let bytes)) = value {
                            bytes.string ?? "?"
                        } else {
                            "\(value)"
                        }
                    }.joined(separator: ">")
                }
                .joined(separator: ",")
        }
        return row.events.map { event in
            let place = number(event.place)
            switch event.change {
            case .first(let cells): return "\(place) first \(text(cells))"
            case .changed(let cells): return "\(place) changed \(text(cells))"
            case .gone: return "\(place) gone, last \(number(event.last))"
            case .back(let cells): return "\(place) back \(text(cells))"
            case .unknown(let until, _): return "\(place) unknown until \(number(until))"
            }
        } + ["\(row.end) \(number(row.first))-\(number(row.last))"]
    }

    @Test("Finding follows rows from their first backup to the live store, through changes")
    func history() async throws {
        try sql("CREATE TABLE item (id INTEGER PRIMARY KEY, name, count)")
        try sql("INSERT INTO item VALUES (1, 'Bread', 1), (2, 'Tea', 1)")
        var random = Pseudorandom(seed: Self.seed)
        try scene.scene.sandbox.write(random.bytes(300_000), to: "Stores/filler")
        try await scene.backUp()
        try sql("INSERT INTO item VALUES (3, 'Milk', 2)")
        try await scene.backUp()
        try await scene.backUp()
        try sql(
            "UPDATE item SET name = 'Soya milk' WHERE id = 3; UPDATE item SET count = 2 WHERE id = 1"
        )
        try await scene.backUp()
        try sql("DELETE FROM item WHERE id = 3; UPDATE item SET name = 'MILK bread' WHERE id = 1")
        try await scene.backUp()
        try sql("INSERT INTO item VALUES (3, 'Oats', 2)")
        try await scene.backUp()
        try sql("DELETE FROM item WHERE id = 1")
        #expect(try await scene.scene.list().contains(where: \.isIncrement))
        let outcome = try await find("milk")
        #expect(!outcome.hasMore && outcome.backups == 6 && outcome.problems.isEmpty)
        #expect(
            outcome.rows.map(story) == [
                [
                    "0 first Bread", "3 changed ", "4 changed Bread>MILK bread",
                    "live gone, last 5", "gone 0-5",
                ],
                [
                    "1 first Milk", "3 changed Milk>Soya milk", "4 gone, last 3",
                    "5 back Soya milk>Oats", "there 1-live",
                ],
            ]
        )
        let same = try await find(.condition("name LIKE '%milk%'")) { $0.table = "ITEM" }
        #expect(same.rows.map(story) == outcome.rows.map(story))
        let late = try await find("oats")
        #expect(late.rows.map(story) == [story(outcome.rows[1])])
        #expect(try await find("tea").rows.map(story) == [["0 first Tea", "there 0-live"]])
        #expect(try await find("coffee").rows.isEmpty)
    }

    @Test("Finding reports rows as the backups have them, for random edits")
    func random() async throws {
        try scene.makeStore("store0.sqlite", rows: 30)
        try scene.makeStore("store1.sqlite", rows: 30)
        for _ in 0..<10 {
            try await scene.backUp()
            for store in ["store0.sqlite", "store1.sqlite"] where scene.random.next() % 3 > 0 {
                try sql(
                    """
                    UPDATE item SET name = name || '!' WHERE abs(random()) % 9 = 0;
                    DELETE FROM item WHERE abs(random()) % 9 = 0;
                    INSERT OR IGNORE INTO item (id, name, data)
                    SELECT 1 + abs(random()) % 40, 'again', NULL FROM item WHERE abs(random()) % 9 = 0;
                    """,
                    store
                )
            }
        }
        let outcome = try await find(.condition("1")) {
            $0.table = "item"
            $0.rowLimit = 1000
        }
        var expected: [String: [String]] = [:]
        let states = scene.names.map { scene.expected[$0] } + [scene.scene.stores]
        for store in ["store0.sqlite", "store1.sqlite"] {
            let all = try states.map { try names(in: #require($0).appending(store)) }
            for id in Set(all.flatMap { $0.keys }) {
                let values = all.map { $0[id] }
                expected["\(store) \(id)"] = story(of: values)
            }
        }
        let told = outcome.rows.map { row -> (String, [String]) in
            guard case .stored(.integer(let id))? = row.key.first?.value else { return ("?", []) }
            return ("\(row.store) \(id)", story(row))
        }
        #expect(Dictionary(told) { $0 + $1 } == expected, "seed \(Self.seed)")
        #expect(expected.count > 50)
        // Rows beyond the limit are only counted as more.
        let few = try await find(.condition("1")) {
            $0.table = "item"
            $0.rowLimit = 7
        }
        #expect(few.hasMore && few.rows.count == 7)
        #expect(few.rows.allSatisfy { row in outcome.rows.contains { story($0) == story(row) } })
    }

    private func names(in store: FilePath) throws -> [Int64: String] {
        let queue = try DatabaseQueue(path: store.string)
        defer { try? queue.close() }
        return try queue.read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT id, name FROM item")
            return Dictionary(rows.map { ($0[0], $0[1]) }) { $1 }
        }
    }

    /// Returns the expected events of a row that had these names in the states.
    private func story(of names: [String?]) -> [String] {
        func place(_ index: Int) -> String { index == names.count - 1 ? "live" : "\(index)" }
        var story: [String] = []
        var (first, last): (Int?, Int?)
        for (index, name) in names.enumerated() {
            if let name {
                if let last, let before = names[last] {
                    let change = before == name ? "" : "\(before)>\(name)"
                    if last < index - 1 {
                        // It may have come back without its data.
                        story.append("\(place(index)) back \(change)")
                    } else if before != name {
                        story.append("\(place(index)) changed \(change)")
                    }
                } else {
                    story.append("\(place(index)) first \(name)")
                }
                (first, last) = (first ?? index, index)
            } else if let last, last == index - 1 {
                story.append("\(place(index)) gone, last \(place(last))")
            }
        }
        let end = names[names.count - 1] == nil ? "gone" : "there"
        return story + ["\(end) \(first.map(place) ?? "")-\(last.map(place) ?? "")"]
    }

    // MARK: - Other schemas

    @Test("Finding follows rows through changes of the schema")
    func schemas() async throws {
        try sql("CREATE TABLE item (id INTEGER PRIMARY KEY, name)")
        try sql("INSERT INTO item VALUES (1, 'Milk')")
        try await scene.backUp()
        try sql("ALTER TABLE item ADD COLUMN shop; UPDATE item SET shop = 'Market'")
        try await scene.backUp()
        try sql("DROP TABLE item")
        try await scene.backUp()
        try sql(
            "CREATE TABLE item (id TEXT PRIMARY KEY, name, shop); INSERT INTO item VALUES (1, 'Milk', 1)"
        )
        try await scene.backUp()
        try sql("DROP TABLE item; CREATE TABLE item (id INTEGER PRIMARY KEY, name, shop)")
        try sql("INSERT INTO item VALUES (1, 'Milk', 'Market')")
        // Those that lack the column have no such row, and no fault.
        let outcome = try await find(.condition("shop = 'Market'")) { $0.table = "item" }
        #expect(outcome.problems.isEmpty)
        #expect(
            outcome.rows.map(story) == [
                [
                    "0 first Milk", "2 gone, last 1", "3 unknown until 3", "live back ",
                    "there 0-live",
                ]
            ]
        )
    }

    @Test("Finding refuses names of stores, tables and columns that no backup has")
    func names() async throws {
        try scene.makeStore("store.sqlite", rows: 1)
        try await scene.backUp()
        await #expect(throws: LookingError.self) {
            try await find("x") { $0.store = "stor.sqlite" }
        }
        await #expect(throws: LookingError.self) { try await find("x") { $0.table = "itme" } }
        for (wrong, hint) in [
            ("nmae = 1", "did you mean 'name'?"), ("name =", nil), ("name = 'x", nil),
        ] as [(String, String?)] {
            await #expect {
                try await find(.condition(wrong)) { $0.table = "item" }
            } throws: { error in
                error is LookingError && (error as? LookingError)?.hint == hint
            }
        }
        #expect(try await find(.condition("1")) { $0.table = "item" }.rows.count == 1)
    }

    // MARK: - What cannot be read

    @Test(
        "Rows are unknown in a backup that is unreadable, has the store damaged, or left it out"
    )
    func unreadable() async throws {
        try scene.makeStore("store.sqlite", rows: 0)
        try sql("INSERT INTO item VALUES (1, 'Milk', NULL)")
        scene.increments.isFull = true
        for _ in 0..<6 {
            try sql("UPDATE item SET data = randomblob(2000)")
            try await scene.backUp()
        }
        let remote = scene.scene.remotePath
        // Cut off; damaged where the store is; without the store, as if it had been left out.
        for (number, change) in [
            (1, { $0.removeLast(600) }), (3, { $0[500] ^= 1 }),
        ] as [(Int, (inout [UInt8]) -> Void)] {
            let path = remote.appending(scene.names[number]).string
            var bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
            change(&bytes)
            try Data(bytes).write(to: URL(filePath: path))
        }
        let outcome = try await find("milk")
        #expect(outcome.rows.count == 1)
        let row = try #require(outcome.rows.first)
        let unknown = row.events.compactMap { event -> String? in
            guard case .unknown(let until, _) = event.change else { return nil }
            return "\(number(event.place))-\(number(until))"
        }
        #expect(unknown == ["1-1", "3-3"])
        // It was not gone meanwhile, as far as is known.
        #expect(!story(row).contains { $0.contains("back") || $0.contains("gone") })
        #expect(row.end == .there && number(row.first) == "0" && number(row.last) == "live")
        #expect(Set(outcome.problems.map(\.path)) == [scene.names[1], scene.names[3]])
        #expect(outcome.problems.count == 2)
        for problem in outcome.problems {
            #expect(problem.description.ranges(of: problem.path).count == 1)
        }
        let folder = scene.scene.folder()
        var options = scene.scene.options(at: scene.date + 7200)
        options.exclusions.patterns = [try PathPattern("store.sqlite")]
        try scene.makeStore("other.sqlite", rows: 1)
        _ = try await CreateBackup(
            of: scene.scene.stores,
            to: folder,
            options: options,
            context: scene.scene.context()
        ).run()
        try FileManager.default.removeItem(
            atPath: scene.scene.stores.appending("store.sqlite").string
        )
        let later = try #require(try await find("milk").rows.first)
        #expect(story(later).suffix(3) == ["? unknown until ?", "live gone, last 5", "gone 0-5"])
    }

    @Test("Rows are unknown in remote backups once the folder is away, which is reported once")
    func away() async throws {
        try scene.makeStore("store.sqlite", rows: 1)
        try sql("UPDATE item SET name = 'Milk'")
        for number in 0..<5 {
            try sql("UPDATE item SET data = \(number)")
            try await scene.backUp()
        }
        let asked = Mutex(0)
        let elsewhere = Elsewhere(folder: scene.scene.remote) { _, _ in
            asked.withLock { $0 += 1 }
            throw RemoteError.unreachable("elsewhere", reason: "the cable is out")
        }
        let outcome = try await find("milk", in: scene.scene.folder(elsewhere))
        #expect(
            outcome.rows.map(story) == [
                ["0 unknown until 4", "live first Milk", "there live-live"]
            ]
        )
        #expect(outcome.problems.count == 1)
        #expect(asked.withLock(\.self) == 1)
    }

    @Test("Finding reads unchanged stores once, and only parts of remote archives")
    func unchanged() async throws {
        try scene.makeStore("store.sqlite", rows: 0)
        try sql("INSERT INTO item VALUES (1, 'Milk', randomblob(2000000))")
        scene.increments.isFull = true
        for _ in 0..<8 { try await scene.backUp() }
        let size = try await scene.scene.list().map(\.size).max() ?? 0
        let fetched = Mutex(0)
        let elsewhere = Elsewhere(folder: scene.scene.remote) { range, bytes in
            fetched.withLock { $0 += range.count }
            return bytes
        }
        let outcome = try await find("milk", in: scene.scene.folder(elsewhere))
        #expect(outcome.rows.map(story) == [["0 first Milk", "there 0-live"]])
        #expect(fetched.withLock(\.self) < 4 * size, "of archives of \(size) bytes")
        // Their contents are known to be the same: all but one are not even opened.
        let catalog = scene.scene.catalog
        for backup in try await scene.scene.folder(catalog: catalog).list().backups {
            _ = scene.scene.folder(catalog: catalog).content(of: backup)
        }
        try await catalog.save()
        for name in scene.names.dropLast() {
            let path = scene.scene.remotePath.appending(name).string
            let copy = scene.scene.sandbox.path("Copy").string
            try Tool.check("cp", ["-p", path, copy])
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.seek(toOffset: UInt64(try FileInfo(of: FilePath(copy)).size) - 100)
            try file.write(contentsOf: Data(count: 100))
            try file.close()
            try Tool.check("touch", ["-r", copy, path])
        }
        let known = try await find("milk", in: scene.scene.folder(catalog: scene.scene.catalog))
        #expect(known.rows.map(story) == [["0 first Milk", "there 0-live"]])
    }

    @Test("Finding stops in the middle of a long query once a person wants to stop")
    func cancelled() async throws {
        try scene.makeStore("store.sqlite", rows: 10)
        try await scene.backUp()
        let folder = scene.scene.folder()
        let find = FindRows(
            in: folder,
            with: scene.scene.stores,
            options: FindRows.Options(
                .condition(
                    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)"
                )
            ),
            context: scene.scene.context(cancellingAfter: 20)
        )
        await #expect(throws: CancellationError.self) {
            try await find.run(among: folder.list().backups)
        }
    }

    @Test("Finding reads the stores directory once, however many stores there are")
    func manyStores() async throws {
        let asked = Mutex(0)
        var context = scene.scene.context()
        context.checkCancellation = { asked.withLock { $0 += 1 } }
        var counts: [Int] = []
        for count in [8, 32] {
            for number in 0..<count { try sql("CREATE TABLE t(x)", "\(count)-\(number).sqlite") }
            asked.withLock { $0 = 0 }
            _ = try await FindRows(
                in: scene.scene.folder(),
                with: scene.scene.stores,
                options: .init(.text(#require(TextPattern("nowhere")))),
                context: context
            ).run(among: [])
            counts.append(asked.withLock(\.self))
        }
        #expect(counts[1] < 6 * counts[0], "\(counts)")
    }
}
