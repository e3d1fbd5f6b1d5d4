import CSQLite
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The small inputs of the repository, described in their README; nothing here changes them.
enum Fixtures {
    static let path = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("Fixtures")

    /// The names in one of its directories.
    static func names(in directory: String, ending: String = "") throws -> Set<String> {
        let names = try Directory.open(path.appending(directory)).names().map(\.description)
        return Set(names.filter { $0.hasSuffix(ending) })
    }

    static func read(_ relative: String) throws -> [UInt8] {
        let file = try File.open(path.appending(relative))
        return try file.readExactly(count: Int(file.info().size), at: 0)
    }

    /// Copies a directory of it into a sandbox.
    static func copy(_ directory: String, into sandbox: Sandbox, as name: String) throws {
        try sandbox.directory(name)
        try Directory.open(path.appending(directory)).walk(failed: { throw $1 }) { file in
            let target = "\(name)/\(file.path)"
            if file.info.kind == .directory {
                try sandbox.directory(target)
            } else {
                try sandbox.write(read("\(directory)/\(file.path)"), to: target)
            }
            return .descend
        }
    }

    /// A line of a listing: what a restored file has to be.
    struct Listed: Hashable, CustomStringConvertible {
        /// Kind, mode, bytes, nanoseconds since 1970, SHA-256 or target, and path.
        var fields: [String]

        /// What archives of every program keep.
        var content: Listed {
            Listed(fields: [fields[0], fields[2], fields[4], fields[5]])
        }

        var description: String { fields.joined(separator: " ") }
    }

    static func listing(_ name: String) throws -> Set<Listed> {
        let text = try String(decoding: read("archives/\(name)"), as: UTF8.self)
        return Set(
            text.split(separator: "\n").map { Listed(fields: $0.components(separatedBy: " ")) }
        )
    }

    /// A directory, in the words of a listing.
    static func listing(of directory: FilePath) throws -> Set<Listed> {
        var listed: Set<Listed> = []
        let contents = try Contents(of: directory)
        for item in contents.items {
            var detail = item.kind == .file ? item.detail : "-"
            if item.kind == .link {
                let parent = item.path.parent?.below(directory) ?? directory
                detail = encoded(try Directory.open(parent).linkTarget(item.path.name))
            }
            let mode = String(item.mode, radix: 8)
            listed.insert(
                Listed(fields: [
                    "\(item.kind)", String(repeating: "0", count: 4 - mode.count) + mode,
                    "\(item.size)", "\(item.modified)", detail, encoded(item.path.bytes),
                ])
            )
        }
        return listed
    }

    private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-".utf8)
        return bytes.map { byte in
            plain.contains(byte)
                ? String(Unicode.Scalar(byte)) : "%" + String(format: "%02X", Int(byte))
        }.joined()
    }
}

/// The first row of a query, its columns separated by `|`, read without the code under test.
func row(in database: FilePath, _ sql: String) throws -> String {
    struct Failure: Error { var reason: String }
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    var statement: OpaquePointer?
    guard sqlite3_open_v2(database.string, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
        sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK
    else { throw Failure(reason: String(cString: sqlite3_errmsg(handle))) }
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else {
        throw Failure(reason: String(cString: sqlite3_errmsg(handle)))
    }
    return (0..<sqlite3_column_count(statement)).map { column in
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
    }.joined(separator: "|")
}

@Suite("The fixtures")
struct FixtureTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
        try sandbox.directory("Temporary")
    }

    private func run(_ arguments: String..., stores: String = "Work/Stores") throws -> Tool.Outcome
    {
        try Tool.run(
            Tool.product("grocerydude"),
            arguments,
            environment: [
                "HOME": sandbox.path.string, "TZ": "UTC", "XDG_DATA_HOME": "",
                "XDG_CACHE_HOME": "", "TMPDIR": sandbox.path("Temporary").string,
                "GROCERYDUDE_STORES": sandbox.path(stores).string,
                "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
            ]
        )
    }

    private func json(_ outcome: Tool.Outcome) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any])
    }

    /// What stands in a directory, without what is below it.
    private func names(in directory: String) throws -> [String] {
        try Directory.open(sandbox.path(directory)).names().map(\.description).sorted()
    }

    // MARK: - Archives

    @Test(
        "archives of other programs restore with all bytes",
        arguments: ["Info-ZIP", "7-Zip", "bsdtar", "zipfile deflated", "zipfile bzip2"]
    )
    func foreignArchive(name: String) throws {
        try sandbox.write(Fixtures.read("archives/\(name).zip"), to: "Remote/\(name) Stores.zip")
        let outcome = try run("restore", "\(name) Stores.zip", "--yes")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let restored = try Fixtures.listing(of: sandbox.path("Work/Stores"))
        let expected = try Fixtures.listing("tree.txt")
        #expect(Set(restored.map(\.content)) == Set(expected.map(\.content)))
        // All of them kept what may be run, read and written by whom.
        let modes = { (listed: Set<Fixtures.Listed>) in
            Set(listed.filter { $0.fields[0] == "file" }.map { [$0.fields[1], $0.fields[5]] })
        }
        #expect(modes(restored) == modes(expected))
        #expect(try names(in: "Work") == ["Stores"])
        let store = sandbox.path("Work/Stores/groceries.sqlite")
        #expect(try row(in: store, "SELECT count(*), sum(quantity) FROM item") == "3|6")
    }

    @Test("the archives cover what the README says")
    func archivesAreAllTested() throws {
        #expect(
            try Fixtures.names(in: "archives", ending: ".zip") == [
                "Info-ZIP.zip", "7-Zip.zip", "bsdtar.zip", "zipfile deflated.zip",
                "zipfile bzip2.zip", "format-1 Stores.zip", "format-1 names Stores.zip",
            ]
        )
    }

    /// Restores an archive of format 1 into an empty place.
    private func restoreFormat1(_ name: String) throws {
        let archive = try Fixtures.read("archives/\(name) Stores.zip")
        try sandbox.write(archive, to: "Remote/\(name) Stores.zip")
        let outcome = try run("restore", "\(name) Stores.zip", "--yes")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try Fixtures.listing(of: sandbox.path("Work/Stores")) == Fixtures.listing("\(name).txt")
        )
        #expect(try FileInfo(of: sandbox.path("Work/Stores")).mode == 0o750)
    }

    @Test("format 1 restores byte for byte, with modes, times and the targets of links")
    func format1() throws {
        try restoreFormat1("format-1")
        let store = sandbox.path("Work/Stores/groceries.sqlite")
        #expect(try row(in: store, "SELECT group_concat(name) FROM item") == "Apples,Käse,Oat milk")
    }

    #if os(Linux)
    @Test("format 1 restores names that are not text")
    func format1Names() throws {
        try restoreFormat1("format-1 names")
    }
    #endif

    @Test("format 1 shows its stores and when it was made")
    func format1Shown() throws {
        let archive = try Fixtures.read("archives/format-1 Stores.zip")
        try sandbox.write(archive, to: "Remote/format-1 Stores.zip")
        let shown = try json(run("show", "format-1", "--json"))
        let stores = try #require(shown["stores"] as? [[String: Any]])
        let store = try #require(stores.first)
        #expect(stores.count == 1)
        #expect(store["path"] as? String == "groceries.sqlite")
        #expect(store["journal_mode"] as? String == "wal")
        #expect(store["page_size"] as? Int == 4096)
        #expect(store["user_version"] as? Int == 7)
        let tables = try #require(store["tables"] as? [[String: Any]])
        #expect(tables.map { $0["name"] as? String } == ["item"])
        #expect(tables.map { $0["rows"] as? Int } == [3])
        let list = try run("list", "--json")
        let backups = try #require(
            JSONSerialization.jsonObject(with: Data(list.output)) as? [[String: Any]]
        )
        #expect(backups.map { $0["time_source"] as? String } == ["manifest"])
    }

    // MARK: - Hostile archives

    /// A zip that has to be refused, with the exit code and a word of the message.
    struct Hostile: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int32
        var word: String

        init(_ name: String, _ status: Int32, _ word: String) {
            self.name = name
            self.status = status
            self.word = word
        }

        var testDescription: String { name }
    }

    static let hostile = [
        Hostile("traversal", 21, "leaves the directory"),
        Hostile("traversal-inside", 21, "leaves the directory"),
        Hostile("traversal-directory", 21, "leaves the directory"),
        Hostile("absolute", 21, "absolute path"),
        Hostile("backslash-dos", 21, "leaves the directory"),
        Hostile("backslash-unix", 21, "leaves the directory"),
        Hostile("backslash-absolute", 21, "absolute path"),
        Hostile("local-name-traversal", 21, "another name"),
        Hostile("link-through", 21, "where its directory should be"),
        Hostile("link-through-absolute", 21, "where its directory should be"),
        Hostile("link-through-later", 21, "where its directory should be"),
        Hostile("link-as-directory", 21, "'out' twice"),
        Hostile("link-to-file", 21, "'file' twice"),
        Hostile("link-huge", 21, "cannot be so long"),
        Hostile("link-empty", 21, "no target"),
        Hostile("link-nul", 21, "no target"),
        Hostile("duplicate", 21, "'same' twice"),
        Hostile("duplicate-dot", 21, "'same' twice"),
        Hostile("file-and-directory", 21, "'same' twice"),
        Hostile("file-as-directory", 21, "where its directory should be"),
        Hostile("case", 21, "one name where case is ignored"),
        Hostile("case-directory", 21, "one name where case is ignored"),
        Hostile("case-umlaut", 21, "one name where case is ignored"),
        Hostile("nul", 21, "NUL"),
        Hostile("no-name", 21, "empty"),
        Hostile("dot", 21, "'.' component"),
        Hostile("double-slash", 21, "empty component"),
        Hostile("deep", 21, "201 components"),
        Hostile("overlap", 21, "overlaps"),
        Hostile("crc", 21, "CRC-32"),
        Hostile("crc-stored", 21, "CRC-32"),
        Hostile("crc-store", 21, "CRC-32"),
        Hostile("size-smaller", 21, "inflate to what it declares"),
        Hostile("size-larger", 21, "inflate to what it declares"),
        Hostile("size-smaller-stored", 21, "sizes contradict"),
        Hostile("size-larger-stored", 21, "sizes contradict"),
        Hostile("behind-data", 21, "inflate to what it declares"),
        Hostile("deflate-broken", 21, "inflate to what it declares"),
        Hostile("deflate-cut", 21, "inflate to what it declares"),
        Hostile("method", 21, "compression method"),
        Hostile("truncated", 21, "cut off"),
        Hostile("truncated-end", 21, "cut off"),
        Hostile("no-end", 21, "cut off"),
        Hostile("beginning-missing", 21, "bytes are missing"),
        Hostile("bytes-behind", 21, "added behind its end"),
        Hostile("count-larger", 21, "cannot have 9 entries"),
        Hostile("count-zero", 21, "more entries than it says"),
        Hostile("directory-outside", 21, "does not end where it says"),
        Hostile("no-entries", 21, "nothing in it"),
        Hostile("empty", 21, "it is empty"),
        Hostile("not-a-zip", 21, "not a zip archive"),
        Hostile("zip64-huge", 21, "declares more than its data can hold"),
        Hostile("zip64-beyond", 21, "beyond all bounds"),
        Hostile("zip64-sum", 21, "beyond all bounds"),
        Hostile("zip64-missing", 21, "declares more than its data can hold"),
        Hostile("bomb-10-gb", 21, "declares more than its data can hold"),
        Hostile("bomb-bzip2", 21, "more than it declares"),
        Hostile("encrypted", 12, "no password"),
        Hostile("encrypted-aes", 12, "no password"),
        Hostile("flipped-bit", 21, "SHA-256"),
        Hostile("lie-segment-missing", 21, "segments contradict"),
        Hostile("lie-segment-added", 21, "segments contradict"),
        Hostile("lie-segment-huge", 21, "segments contradict"),
        Hostile("lie-segment-negative", 21, "segments contradict"),
        Hostile("lie-segment-lengths", 21, "inflate to what it declares"),
        Hostile("lie-segment-order", 21, "inflate to what it declares"),
        Hostile("lie-segments-none", 21, "segments contradict"),
        Hostile("lie-link-segments-none", 21, "segments contradict"),
        Hostile("lie-link-segments-two", 21, "segments contradict"),
        Hostile("lie-directory-segments", 21, "segments contradict"),
        Hostile("lie-digest", 21, "'photo.bin' in"),
        Hostile("lie-digest-last", 21, "SHA-256"),
        Hostile("lie-digest-short", 21, "not what the format says"),
        Hostile("lie-digest-link", 21, "SHA-256"),
        Hostile("lie-order", 21, "contradicts the archive at"),
        Hostile("lie-size", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-size-huge", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-size-negative", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-type", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-path", 21, "not what the format says"),
        Hostile("lie-path-absolute", 21, "not what the format says"),
        Hostile("lie-mode", 21, "not what the format says"),
        Hostile("lie-record-missing", 21, "fewer files"),
        Hostile("lie-record-added", 21, "more files"),
        Hostile("lie-record-twice", 21, "contradicts the archive at"),
        Hostile("lie-format-0", 21, "no such format"),
        Hostile("lie-format-2", 21, "archive format 2, which is newer"),
        Hostile("lie-segment-size", 21, "size of segments"),
        Hostile("lie-no-trailer", 21, "its end is missing"),
        Hostile("lie-after-trailer", 21, "something follows its end"),
        Hostile("lie-no-json", 21, "first line"),
        Hostile("lie-empty", 21, "first line"),
    ]

    @Test("every hostile archive has its line in the table")
    func hostileAreAllTested() throws {
        let names = Self.hostile.map { "\($0.name).zip" }
        #expect(try Fixtures.names(in: "hostile") == Set(names))
        #expect(names.count == Set(names).count)
    }

    @Test("a hostile archive is refused, and nothing is written anywhere", arguments: hostile)
    func refuses(hostile: Hostile) throws {
        try Fixtures.copy("stores/core-data", into: sandbox, as: "Work/Stores")
        try sandbox.write("untouched", to: "Work/canary")
        let backup = "\(hostile.name) Stores.zip"
        try sandbox.write(Fixtures.read("hostile/\(hostile.name).zip"), to: "Remote/\(backup)")
        let places = ["Work", "Remote", "Temporary"]
        let before = try places.map { try sandbox.contents(of: $0) }
        for how in ["--yes", "--dry-run"] {
            let outcome = try Tool.run(
                Tool.product("grocerydude"),
                [
                    "restore", backup, how,
                    "--stores", sandbox.path("Work/Stores").string,
                    "--remote", sandbox.path("Remote").string,
                ],
                environment: [
                    "HOME": sandbox.path.string, "XDG_CACHE_HOME": "",
                    "TMPDIR": sandbox.path("Temporary").string,
                ]
            )
            let comment: Comment = "\(how): \(outcome.errors)"
            #expect(outcome.status == hostile.status, comment)
            #expect(outcome.errors.contains(hostile.word), comment)
            #expect(outcome.errors.contains("your data is as it was"), comment)
            #expect(outcome.errors.contains("hint: "), comment)
            #expect(outcome.output.isEmpty, comment)
            #expect(try places.map { try sandbox.contents(of: $0) } == before, comment)
        }
        #expect(try FileInfo.ifPresent("/tmp/grocerydude-evil") == nil)
    }

    @Test("hostile archives are listed like all others, and are no reason to stop")
    func listsHostile() throws {
        for name in try Fixtures.names(in: "hostile") {
            let backup = name.replacingOccurrences(of: ".zip", with: " Stores.zip")
            try sandbox.write(Fixtures.read("hostile/\(name)"), to: "Remote/\(backup)")
        }
        let list = try run("list")
        #expect(list.status == 0, "\(list.errors)")
        #expect(list.text.split(separator: "\n").count == Self.hostile.count)
    }

    // MARK: - Stores

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
        /// Whether a restore is told to take what is damaged.
        var allowsDamage = false
        /// What a restore says that was not told so, and refuses the store.
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
        StoresFixture(name: "empty"),
        StoresFixture(name: "encrypted"),
    ]

    @Test("every stores directory has its line in the table")
    func storesAreAllTested() throws {
        #expect(try Fixtures.names(in: "stores") == Set(Self.stores.map(\.name)))
    }

    @Test(
        "a stores directory is saved without changing a byte of it, and comes back",
        arguments: stores
    )
    func savesAndRestores(fixture: StoresFixture) throws {
        try Fixtures.copy("stores/\(fixture.name)", into: sandbox, as: "Work/Stores")
        let before = try sandbox.contents(of: "Work")
        let backup = try run("backup")
        #expect(backup.status == fixture.status, "\(backup.errors)")
        for word in fixture.words { #expect(backup.errors.contains(word), "\(backup.errors)") }
        #expect(fixture.status == 3 || !backup.errors.contains("warning"), "\(backup.errors)")
        #expect(try sandbox.contents(of: "Work") == before)
        #expect(try names(in: "Temporary") == [])
        try expectTables(of: fixture)

        if let refusal = fixture.refusal {
            let refused = try run("restore", "latest", "--yes", stores: "New/Stores")
            #expect(refused.status == 21)
            #expect(refused.errors.contains(refusal), "\(refused.errors)")
            #expect(refused.errors.contains("--allow-damaged"), "\(refused.errors)")
            #expect(refused.errors.split(separator: "\n").count == 2, "\(refused.errors)")
            #expect(try names(in: "New") == [])
        }
        let options = fixture.allowsDamage ? ["--allow-damaged"] : []
        try expectRestored(fixture, options, to: "New/Stores")
        // Over itself too, with what a crash left there.
        try expectRestored(fixture, options, to: "Work/Stores")
        #expect(try names(in: "Temporary") == [])
    }

    @Test("a backup that is tried out elsewhere says what its stores refer to and do not have")
    func rehearsal() throws {
        try Fixtures.copy("stores/core-data", into: sandbox, as: "Work/Stores")
        #expect(try run("backup").status == 3)
        let tried = try run("restore", "latest", "--target", sandbox.path("Target").string)
        #expect(tried.status == 3)
        let missing =
            "'.Model_SUPPORT/_EXTERNAL_DATA/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03': a store refers"
        #expect(tried.errors.contains(missing), "\(tried.errors)")
        #expect(sandbox.exists("Target/Model.sqlite"))
        // With the file there, all is well.
        let support = ".Model_SUPPORT/_EXTERNAL_DATA/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
        try sandbox.write("a photo", to: "Work/Stores/\(support)")
        #expect(try run("backup").status == 0)
        let whole = try json(
            run("restore", "latest", "--target", sandbox.path("Whole").string, "--json")
        )
        #expect((whole["problems"] as? [Any])?.count == 0)
    }

    private func expectTables(of fixture: StoresFixture) throws {
        let shown = try json(run("show", "latest", "--json"))
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
        let name = try #require(names(in: "Remote").first { !$0.contains("(") })
        let outcome = try Tool.run(
            Tool.product("grocerydude"),
            ["restore", name, "--yes", "--check", "full"] + options + [
                "--stores", sandbox.path(stores).string, "--remote", sandbox.path("Remote").string,
            ],
            environment: [
                "HOME": sandbox.path.string, "XDG_CACHE_HOME": "",
                "TMPDIR": sandbox.path("Temporary").string,
            ]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let parent = FilePath(stores).removingLastComponent().string
        #expect(try names(in: parent) == ["Stores"])
        func files(_ contents: Contents) -> [String: String] {
            let files = contents.items.filter { $0.kind == .file }
            return Dictionary(uniqueKeysWithValues: files.map { ($0.path.description, $0.detail) })
        }
        let restored = try files(sandbox.contents(of: stores))
        let original = try files(
            Contents(of: Fixtures.path.appending("stores/\(fixture.name)"))
        )
        #expect(Set(restored.keys) == Set(original.keys).subtracting(fixture.dropped))
        for (file, digest) in restored {
            #expect((digest == original[file]) == !fixture.folded.contains(file), "\(file)")
        }
        if let query = fixture.query {
            let store = sandbox.path("\(stores)/\(query.file)")
            #expect(try row(in: store, query.sql) == query.row)
            if !fixture.allowsDamage, !["collation", "module"].contains(fixture.name) {
                #expect(try row(in: store, "PRAGMA integrity_check") == "ok")
            }
        }
    }
}
