import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'extract', 'show' of a path or as a tree, and 'list --contains', as a person uses them.
@Suite("Files extracted from backups")
struct ExtractCommandTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }
    /// Three segments, the last of them short; no compression makes them smaller.
    private static let map = Pseudorandom.map

    init() throws {
        program = try Program()
        for name in ["Stores/photos/trips", "Stores/photos/empty", "Remote", "Out"] {
            try sandbox.directory(name)
        }
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try sql(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name); INSERT INTO item VALUES (1, 'Milk')"
        )
        try sandbox.write("hello", to: "Stores/note.txt")
        try sandbox.write("", to: "Stores/nothing")
        try sandbox.write(Self.map, to: "Stores/photos/map.jpg")
        try sandbox.write("Rome", to: "Stores/photos/trips/a.txt")
        try sandbox.link("Stores/photos/link", to: "map.jpg")
        for (path, mode) in [
            ("note.txt", "640"), ("photos/map.jpg", "604"), ("photos/trips", "711"),
            ("photos", "750"),
        ] {
            let path = sandbox.path("Stores/\(path)").string
            try Tool.check("chmod", [mode, path])
            try Tool.check("touch", ["-d", "2020-01-02T03:04:05.123456789Z", path])
        }
    }

    private func sql(_ text: String) throws {
        try Tool.check("sqlite3", [sandbox.path("Stores/Shop.sqlite").string, text])
    }

    private func dump(_ store: String) throws -> String {
        try Tool.check("sqlite3", [sandbox.path(store).string, ".dump", "PRAGMA integrity_check"])
    }

    /// What is directly in a directory, or is it.
    private func names(in directory: String) throws -> [String] {
        try Directory.open(sandbox.path(directory)).names().map(\.description)
    }

    private func item(_ name: String, in directory: String) throws -> Contents.Item? {
        try sandbox.contents(of: directory).items.first { $0.path.description == name }
    }

    // MARK: - Extracting

    @Test("Every entry that is extracted is named with '-v', and none without")
    func verbose() throws {
        try program.expect("backup", "--quiet")
        let extract = ["extract", "latest", "photos", "--to"]
        let named = try program.expect(extract + ["Out/a", "-v"])
        for path in ["photos", "photos/map.jpg", "photos/trips/a.txt", "photos/link"] {
            #expect(named.errors.contains("extracts '\(path)'\n"), "\(path): \(named.errors)")
        }
        #expect(!named.errors.contains("extracts 'note.txt'"))
        #expect(try !program.expect(extract + ["Out/b"]).errors.contains("extracts"))
        let restored = try program.expect("restore", "latest", "--yes", "-v")
        #expect(restored.errors.contains("extracts 'note.txt'\n"), "\(restored.errors)")
    }

    @Test("The stores directory as it is now is shown as a backup of it is")
    func live() throws {
        try program.expect("backup", "--quiet")
        #expect(
            try program.expect("show", "live", "--tree").text
                == program.expect("show", "latest", "--tree").text
        )
        try sandbox.write("later", to: "Stores/later.txt")
        let before = try sandbox.contents(of: "Stores")
        let live = try program.expect("show", "live")
        #expect(live.text.hasPrefix("'\(sandbox.path("Stores"))' as it is now\n"))
        #expect(live.text.contains("  item  1 rows\n") && live.text.contains("later.txt"))
        #expect(try sandbox.contents(of: "Stores") == before)
        let part = try program.expect("show", "live", "photos/trips")
        #expect(part.text.contains("photos/trips/a.txt") && !part.text.contains("note.txt"))
        #expect(try program.expect(["show", "live", "photoz"], status: 1).text.isEmpty)
    }

    @Test("A file is extracted with its mode and its time, and nothing else is")
    func oneFile() throws {
        try program.expect("backup", "--quiet")
        let outcome = try program.expect("extract", "latest", "note.txt", "--to", "Out")
        #expect(outcome.text == "1 file, 5 bytes: '\(sandbox.path("Out/note.txt"))'\n")
        #expect(try sandbox.contents(of: "Out").paths == ["note.txt"])
        #expect(try item("note.txt", in: "Out") == item("note.txt", in: "Stores"))
        #expect(try item("note.txt", in: "Out")?.mode == 0o640)
        // Below the current directory, and under its path.
        try program.expect("extract", "latest", "photos/trips/a.txt", "--quiet")
        #expect(try sandbox.contents(of: "photos").paths == ["trips", "trips/a.txt"])
        // The directory is made if it is not there.
        try program.expect("extract", "latest", "./nothing", "--to", "New/er")
        #expect(try sandbox.read("New/er/nothing") == [])
    }

    @Test("A directory is extracted with its contents, even if one of them is named as well")
    func directory() throws {
        try program.expect("backup", "--quiet")
        let outcome = try program.expect(
            "extract",
            "latest",
            "photos/map.jpg",
            "photos/",
            "photos",
            "photos/trips",
            "--to",
            "Out",
            "--json"
        )
        #expect(try sandbox.contents(of: "Out/photos") == sandbox.contents(of: "Stores/photos"))
        #expect(try item("photos", in: "Out") == item("photos", in: "Stores"))
        #expect(try names(in: "Out") == ["photos"])
        let answer = try #require(outcome.json as? [String: Any])
        #expect(answer["paths"] as? [String] == [sandbox.path("Out/photos").string])
        #expect(answer["files"] as? Int == 2)
        #expect(answer["bytes"] as? Int == Self.map.count + 4)
    }

    @Test("A store is extracted as one clean database with all rows, while an application writes")
    func store() throws {
        let application = try StoreApplication(
            on: sandbox.path("Stores/Shop.sqlite"),
            "PRAGMA journal_mode = WAL",
            "INSERT INTO item VALUES (2, 'Bread')"
        )
        #expect(sandbox.exists("Stores/Shop.sqlite-wal"))
        try program.expect("backup", "--quiet")
        try application.end()
        try program.expect("extract", "latest", "Shop.sqlite", "--to", "Out")
        #expect(try names(in: "Out") == ["Shop.sqlite"])
        let rows = try dump("Out/Shop.sqlite")
        #expect(try rows == dump("Stores/Shop.sqlite") && rows.contains("'Bread'"))
    }

    @Test("A read-only directory is extracted with its contents, and is read-only again")
    func unwritableDirectory() throws {
        try Tool.check("chmod", ["555", sandbox.path("Stores/photos").string])
        try program.expect("backup", "--quiet")
        // Root may write to all directories, unless that is taken from it.
        let may = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        let launcher = OrdinaryUser.isRoot && Tool.isInstalled("setpriv") ? may : ["env"]
        let outcome = try Tool.run(
            launcher[0],
            launcher.dropFirst() + [Program.path, "extract", "latest", "photos", "--to", "Out"],
            environment: program.environment,
            directory: sandbox.path
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try item("photos", in: "Out") == item("photos", in: "Stores"))
        #expect(try sandbox.contents(of: "Out/photos") == sandbox.contents(of: "Stores/photos"))
        #expect(try names(in: "Out") == ["photos"])
    }

    @Test("An increment and its bases give their files as they were at their times")
    func increments() throws {
        // For less than this, a whole backup is as good.
        var random = Pseudorandom(seed: 16)
        try sandbox.write(random.bytes(18 << 20), to: "Stores/large")
        // Large enough that a change of it is a patch.
        try sql(
            """
            CREATE TABLE blob (data);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO blob SELECT randomblob(900) FROM n
            """
        )
        try program.expect("backup", "--quiet", "--incremental")
        let old = try dump("Stores/Shop.sqlite")
        try sql("INSERT INTO item VALUES (2, 'Eggs')")
        try sandbox.write("later", to: "Stores/note.txt")
        try program.expect("backup", "--quiet", "--incremental")
        let list = try #require(try program.expect("list", "--json").json as? [[String: Any]])
        #expect(list.map { $0["kind"] as? String } == ["increment", "full"])
        let full = try #require(list.last?["name"] as? String)
        try program.expect(
            "extract",
            "latest",
            "large",
            "Shop.sqlite",
            "note.txt",
            "photos",
            "--to",
            "Out"
        )
        for name in ["large", "note.txt", "photos"] {
            #expect(try item(name, in: "Out") == item(name, in: "Stores"), "\(name)")
        }
        #expect(try dump("Out/Shop.sqlite") == dump("Stores/Shop.sqlite"))
        #expect(try sandbox.contents(of: "Out/photos") == sandbox.contents(of: "Stores/photos"))
        #expect(
            try program.expect("extract", "latest", "large", "--to", "-").output
                == sandbox.read("Stores/large")
        )
        try program.expect("extract", full, "Shop.sqlite", "--to", "Old")
        #expect(try dump("Old/Shop.sqlite") == old)
        #expect(try program.expect("extract", full, "note.txt", "--to", "-").text == "hello")
    }

    @Test("An encrypted backup gives its files only to the holder of the key")
    func encrypted() throws {
        let key = sandbox.path("key.txt").string
        let recipient = String(
            try program.expect("key", "generate", "--output", key).text.dropLast()
        )
        try program.expect("backup", "--quiet", "--recipient", recipient)
        let identity = ["--identity", key]
        for command in [
            ["extract", "latest", "photos", "--to", "Out"],
            ["extract", "latest", "photos/map.jpg", "--to", "-"],
            ["show", "latest", "photos"],
        ] {
            let refused = try program.run(command)
            #expect(refused.status == 12 && refused.output.isEmpty, "\(command): \(refused.errors)")
            #expect(try names(in: "Out") == [])
        }
        // It may have the file, as far as anybody can know.
        let unknown = try program.expect("list", "--contains", "photos", status: 3)
        #expect(unknown.errors.contains("there is no key"))
        #expect(!unknown.errors.contains("no backup matches"))
        #expect(
            try program.run(["extract", "latest", "photos/map.jpg", "--to", "-"] + identity).output
                == Self.map
        )
        let taken = try program.run(["extract", "latest", "photos", "--to", "Out"] + identity)
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try sandbox.contents(of: "Out/photos") == sandbox.contents(of: "Stores/photos"))
        let found = try program.run(["list", "--contains", "photos", "--json"] + identity)
        #expect(try (found.json as? [Any])?.count == 1)
    }

    @Test("A foreign zip gives its files, and a store without its log is reported")
    func foreignZip() throws {
        let application = try StoreApplication(
            on: sandbox.path("Stores/log.sqlite"),
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES ('in the log')"
        )
        // Without entries for directories.
        let zip = sandbox.path("Remote/Other Stores.zip").string
        try Tool.check("zip", ["-qrD", zip, "."], directory: sandbox.path("Stores"))
        try application.end()
        let tree = try program.expect("show", "Other", "photos", "--tree").text
        #expect(tree.contains("└── photos/\n") && tree.contains("a.txt  4 bytes\n"))
        let alone = try program.expect("extract", "Other", "photos", "log.sqlite", "--to", "Out")
        #expect(alone.errors.contains("warning: 'log.sqlite-wal' is not extracted"))
        for name in ["photos/map.jpg", "photos/trips/a.txt"] {
            let (old, new) = try (item(name, in: "Stores"), item(name, in: "Out"))
            #expect(old?.detail == new?.detail && old?.mode == new?.mode, "\(name)")
            // Such a zip has no parts of a second.
            let seconds = [old, new].map { ($0?.modified ?? 0) / 1_000_000_000 }
            #expect(seconds[0] == seconds[1] && new != nil, "\(name)")
        }
        let whole = try program.expect(
            "extract",
            "Other",
            "log.sqlite",
            "log.sqlite-wal",
            "--to",
            "Whole"
        )
        #expect(!whole.errors.contains("is not extracted"))
        #expect(try dump("Whole/log.sqlite").contains("'in the log'"))
    }

    // MARK: - Refusals

    @Test("An extraction does not replace an existing file, and then extracts nothing")
    func taken() throws {
        try program.expect("backup", "--quiet")
        try sandbox.write("mine", to: "Out/note.txt")
        let outcome = try program.expect(
            "extract",
            "latest",
            "photos",
            "note.txt",
            "--to",
            "Out",
            status: 1
        )
        #expect(outcome.errors.contains("'\(sandbox.path("Out/note.txt"))' is there already"))
        #expect(try sandbox.contents(of: "Out").paths == ["note.txt"])
        #expect(try sandbox.read("Out/note.txt") == Array("mine".utf8))
    }

    @Test("An extraction of an unknown name suggests the nearest name")
    func wrongNames() throws {
        #expect(
            try program.expect("extract", "latest", "note.txt", "--to", "-", status: 10).errors
                .contains(
                    "there is no backup"
                )
        )
        try program.expect("backup", "--quiet")
        for (arguments, hint) in [
            (
                ["extract", "latest", "note.txt", "photos/mpa.jpg"],
                "did you mean 'photos/map.jpg'?"
            ),
            (["extract", "latest", "map.jpg", "--to", "-"], "did you mean 'photos/map.jpg'?"),
            (["show", "latest", "photo"], "did you mean 'photos'?"),
            (
                ["extract", "latest", "quite another thing", "--to", "-"],
                "grocerydude show NAME --tree"
            ),
            (["extract", "latest", "photos", "--to", "-"], "'photos' in '"),
            (["extract", "latest", "photos/link", "--to", "-"], "is not a file"),
        ] {
            let outcome = try program.run(arguments)
            #expect(outcome.status == 1 && outcome.output.isEmpty, "\(arguments)")
            #expect(outcome.errors.contains(hint), "\(arguments): \(outcome.errors)")
        }
        for command in ["extract", "show"] {
            try program.expect(command, "absent", "note.txt", status: 10)
        }
        for arguments in [
            ["extract", "latest"], ["extract", "latest", "--to", "-"],
            ["extract", "latest", "a", "b", "--to", "-"], ["list", "--contains"],
        ] {
            #expect(try program.run(arguments).status == 64)
        }
        #expect(!sandbox.exists("note.txt"))
    }

    @Test("An extraction of a damaged segment outputs none of it, and leaves no partial file")
    func damage() throws {
        try program.expect("backup", "--quiet")
        let name = try #require(try names(in: "Remote").first { $0.hasSuffix(".zip") })
        var bytes = try sandbox.read("Remote/\(name)")
        let entry = try #require(
            Data(bytes).firstRange(of: Data("photos/map.jpg".utf8))?.lowerBound
        )
        bytes[entry + 1_500_000] ^= 1
        try sandbox.write(bytes, to: "Remote/\(name)")
        let outcome = try program.expect(
            "extract",
            "latest",
            "note.txt",
            "photos",
            "--to",
            "Out",
            status: 20
        )
        #expect(outcome.errors.contains("photos/map.jpg") && outcome.text.isEmpty)
        #expect(try names(in: "Out") == [])
        // Nor does a directory that was made for it.
        try program.expect("extract", "latest", "photos", "--to", "Out/New/er", status: 20)
        try program.expect("extract", "latest", "nowhere", "--to", "Out/New", status: 1)
        #expect(try names(in: "Out") == [])
        // The first MiB is as it was.
        let start = try program.expect(
            "extract",
            "latest",
            "photos/map.jpg",
            "--to",
            "-",
            status: 20
        )
        #expect(start.output == Array(Self.map.prefix(1 << 20)))
        try program.expect("extract", "latest", "note.txt", "photos/trips", "--to", "Out")
        #expect(try names(in: "Out") == ["note.txt", "photos"])
    }

    // MARK: - Looking

    @Test("An extraction writes a file to standard output until the reader closes it")
    func cat() throws {
        try program.expect("backup", "--quiet")
        #expect(
            try program.expect("extract", "latest", "photos/map.jpg", "--to", "-").output
                == Self.map
        )
        #expect(try program.expect("extract", "latest", "nothing", "--to", "-").output == [])
        let closed = try Tool.run(
            "bash",
            [
                "-c", "\"$@\" | exec true; exit ${PIPESTATUS[0]}", "bash", Program.path,
                "extract", "latest", "photos/map.jpg", "--to", "-",
            ],
            environment: program.environment,
            directory: sandbox.path
        )
        #expect(closed.status == 141 && closed.errors.isEmpty, "\(closed.errors)")
    }

    @Test("A backup is shown as a tree, or only what is at a path")
    func show() throws {
        try program.expect("backup", "--quiet")
        let size = try item("Shop.sqlite", in: "Stores")?.size ?? 0
        #expect(
            try program.expect("show", "latest", "--tree").text == """
                ├── Shop.sqlite  \(byteCount(size))
                ├── note.txt  5 bytes
                ├── nothing  0 bytes
                └── photos/
                    ├── empty/
                    ├── link  link
                    ├── map.jpg  \(byteCount(Int64(Self.map.count)))
                    └── trips/
                        └── a.txt  4 bytes

                """
        )
        let shown =
            try program.expect("show", "latest", "photos/trips/", "--json").json as? [String: Any]
        let files = shown?["files"] as? [[String: Any]]
        #expect(files?.map { $0["path"] as? String } == ["photos/trips", "photos/trips/a.txt"])
        #expect(files?.first?["mode"] as? String == "0711")
        #expect((shown?["stores"] as? [Any])?.isEmpty == true)
        let store = try program.expect("show", "latest", "Shop.sqlite").text
        #expect(store.contains("item") && store.contains("1 rows") && !store.contains("note.txt"))
    }

    @Test("The list of backups with a file includes those backups and no others")
    func contains() throws {
        #expect(
            try program.expect("list", "--contains", "note.txt").errors.contains("no backups yet")
        )
        try program.expect("backup", "--quiet")
        try sandbox.write("late", to: "Stores/later.txt")
        try program.expect("backup", "--quiet")
        try LocalFileSystem().remove(sandbox.path("Stores/photos"))
        try program.expect("backup", "--quiet")
        let all = try found("list")
        #expect(Set(all).count == 3)
        #expect(try found("list", "--contains", "note.txt") == all)
        #expect(try found("list", "--contains", "later.txt") == [all[0], all[1]])
        #expect(try found("list", "--contains", "photos/") == [all[1], all[2]])
        #expect(try found("list", "--contains", "photos/map.jpg") == [all[1], all[2]])
        #expect(try found("list", "--contains", "phot") == [])
        #expect(
            try program.expect("list", "--contains", "phot").errors.contains(
                "no backup matches"
            )
        )
        try program.expect("list", "--contains", "photos", "--trash", status: 64)
    }

    private func found(_ arguments: String...) throws -> [String?] {
        let outcome = try program.run(arguments + ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let rows = try outcome.json as? [[String: Any]]
        return try #require(rows).map { $0["name"] as? String }
    }
}

extension Pseudorandom {
    fileprivate static var map: [UInt8] {
        var random = Pseudorandom(seed: 78)
        return random.bytes(2_500_000)
    }
}
