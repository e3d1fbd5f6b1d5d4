import CSQLite
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// How much of a fault suite is run: all of it with `make faults`, a sample with `make test`.
enum FaultExtent {
    static let isFull = ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS"] == "all"

    /// Those whose name has the text of GROCERYDUDE_FAULTS_SCENARIO in it, to try them again; or all.
    static func chosen(_ scenarios: [FaultScenario]) -> [FaultScenario] {
        guard let text = ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS_SCENARIO"] else {
            return scenarios
        }
        return scenarios.filter { $0.name.contains(text) }
    }

    /// All of them, or as many as given, evenly spread, the last one among them.
    static func sample<Element>(_ all: [Element], _ count: Int) -> [Element] {
        guard !isFull, all.count > count else { return all }
        return (1...count).map { all[$0 * all.count / count - 1] }
    }

    /// Prints what a real run tried; Documentation/Design/Reliability.md quotes it.
    static func report(_ text: String) {
        print("faults: \(text)")
    }
}

/// A stores directory in a known old state, and a remote folder with a backup of a known new one.
final class FaultScene: Sendable {
    /// The archive of the new state.
    let archive: String
    /// What is in the stores directory before anything is done.
    let old: Contents
    /// What a restore makes of it.
    let new: Contents
    private let sandbox: Sandbox

    /// One for all tests: to make it takes longer than most of them.
    static let shared: Result<FaultScene, any Error> = {
        let scene = Result { try FaultScene() }
        atexit { try? FaultScene.shared.get().sandbox.remove() }
        return scene
    }()

    private init() throws {
        let sandbox = try Sandbox()
        self.sandbox = sandbox
        for name in ["Work/Remote", "Work/home", "Work/tmp"] { try sandbox.directory(name) }
        try sandbox.write(Pseudorandom.bytes(seed: 5, count: 1_200_000), to: "Work/Stores/large")
        try sandbox.write("new", to: "Work/Stores/directory/note")
        try sandbox.link("Work/Stores/link", to: "large")
        try Self.writeKey(in: sandbox)
        let work = Trial(sandbox.path("Work"))
        try work.check("init", "--yes")
        // Of another day, so that how often a name is taken does not depend on the time of day.
        archive = "[2026-Jan-01] 09.01 AM Stores.zip"
        let name = try work.check("backup").text.trimmingCharacters(in: .newlines)
        try LocalFileSystem().move(
            work.remote.appending(name),
            to: work.remote.appending(archive)
        )
        try work.check("items", "remove", "Apples")
        try sandbox.write("old", to: "Work/Stores/directory/note")
        try sandbox.write("only in the old state", to: "Work/Stores/old")
        try Self.makeHotJournal(in: sandbox.directory("Hot"))
        old = try Contents(of: work.stores)

        // On a copy, since to open a store in WAL mode changes what is beside it.
        try Tool.check("cp", ["-a", work.root.string, sandbox.path("Restored").string])
        let restored = Trial(sandbox.path("Restored"))
        try #require(Self.count(restored.stores.appending("Grocery-Dude.sqlite")) == 11)
        try restored.check("restore", archive, "--yes", "--no-safety-backup")
        new = try Contents(of: restored.stores)
        try #require(Self.count(restored.stores.appending("Grocery-Dude.sqlite")) == 12)
        try #require(old != new)
    }

    /// A key for those scenarios that encrypt; both halves are the example of the format's description.
    static let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

    /// The key after that one, and who may read what is encrypted for it.
    static let laterRecipient = "age1tupvke3z830w66xzax0zyzucm9wgnel7un6pfxrprdlf32776prqfc536y"
    private static let laterKey =
        "AGE-SECRET-KEY-106SGK9MXP3RANW7DZM9HXKA4SNEMLAYRE5SLSKY2NAJDDYNK06VSGFERFU"

    /// Has the keys at hand be both; the first alone is in another file.
    static func addLaterKey(to trial: Trial) throws {
        let keys = trial.root.appending("home/identity.txt")
        let first = try File.contents(of: keys, limit: 1 << 20)
        try LocalFileSystem().write(first, to: trial.key)
        try LocalFileSystem().remove(keys)
        try LocalFileSystem().write(first + Array("\(laterKey)\n".utf8), to: keys)
        for path in [keys, trial.key] { try File.open(path).setMode(0o600) }
    }

    private static func writeKey(in sandbox: Sandbox) throws {
        let path = try sandbox.write(
            "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX\n",
            to: "Work/home/identity.txt"
        )
        try File.open(path).setMode(0o600)
    }

    /// A fresh copy, whose stores directory may be a mount point; it goes with its last reference.
    func trial(isMounted: Bool = false) throws -> Trial {
        let path = sandbox.path("Trial-\(UUID().uuidString)")
        try Tool.check("cp", ["-a", sandbox.path("Work").string, path.string])
        return Trial(path, removing: true, isMounted: isMounted)
    }

    /// Adds a store as a writer leaves it that is killed when it has written half a transaction.
    func addHotJournal(to trial: Trial) throws {
        try Tool.check("cp", ["-a", sandbox.path("Hot/.").string, trial.stores.string])
    }

    /// Makes a whole backup of as much as others are built on, some increments, and then a change; the same,
    /// times too, in every trial.
    func makeLineage(in trial: Trial, increments: Int) throws {
        func keepTime(of name: String) throws {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
                ofItemAtPath: trial.stores.appending(name).string
            )
        }
        let large = Data(Pseudorandom.bytes(seed: 9, count: 17 << 20))
        try large.write(to: URL(filePath: trial.stores.appending("huge").string))
        try keepTime(of: "huge")
        try trial.check("backup", "--incremental")
        for number in 0..<max(1, increments) {
            let store = trial.stores.appending("Grocery-Dude.sqlite").string
            var database: OpaquePointer?
            defer { sqlite3_close(database) }
            let sql = "CREATE TABLE IF NOT EXISTS more (x); INSERT INTO more VALUES (\(number))"
            try #require(sqlite3_open(store, &database) == SQLITE_OK)
            try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
            try #require(sqlite3_close(database) == SQLITE_OK)
            database = nil
            let note = trial.stores.appending("directory/number").string
            try Data("\(number)".utf8).write(to: URL(filePath: note))
            for name in ["Grocery-Dude.sqlite", "directory/number", "directory"] {
                try keepTime(of: name)
            }
            if increments > 0 { try trial.check("backup", "--incremental") }
        }
    }

    /// Makes such a store: the database half new, and a journal with what was there
    /// (https://www.sqlite.org/atomiccommit.html).
    private static func makeHotJournal(in directory: FilePath) throws {
        let work = try Sandbox()
        let path = work.path("hot.sqlite")
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let sql = """
            PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; CREATE TABLE t(x);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                INSERT INTO t SELECT randomblob(500) FROM n;
            BEGIN IMMEDIATE; UPDATE t SET x = zeroblob(500);
            """
        try #require(sqlite3_open(path.string, &database) == SQLITE_OK)
        try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
        for name in ["hot.sqlite", "hot.sqlite-journal"] {
            try Tool.check(
                "cp",
                [work.path(name).string, directory.appending(name).string]
            )
        }
    }

    /// The items of a store that `PRAGMA quick_check` finds good; -1 where it does not.
    private static func count(_ store: FilePath) -> Int {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open_v2(store.string, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK
        else { return -1 }
        var isGood = false
        var count = -1
        for sql in ["PRAGMA quick_check", "SELECT count(*) FROM item"] {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
                sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
            else { return -1 }
            if sql.hasPrefix("PRAGMA") {
                isGood = String(cString: text) == "ok"
            } else {
                count = Int(String(cString: text)) ?? -1
            }
        }
        return isGood ? count : -1
    }
}

/// A directory of its own for one run of the program and what comes after it.
final class Trial: Sendable {
    let root: FilePath
    /// Whether the program finds the stores directory to be a mount point.
    let isMounted: Bool
    private let removes: Bool

    /// Whether this system and user let a test mount something for itself (unshare(1)).
    static let mayMount =
        (try? Tool.run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]))?.status == 0

    /// Where a restore works in a stores directory that is a mount point.
    private static let area = ".grocerydude-restore"

    static let program = Tool.product("grocerydude")

    var stores: FilePath { root.appending("Stores") }
    var remote: FilePath { root.appending("Remote") }
    /// Another directory beside the stores directory.
    var other: FilePath { root.appending("Other") }
    /// An archive that is in no folder.
    var found: FilePath { root.appending("home/Found.zip") }

    /// A file of secret keys.
    var key: FilePath { root.appending("home/first.txt") }

    /// What a restore that is rolled back keeps, as `leftovers()` calls it.
    let refused = ["Stores_FailedRestore", "\(area)/FailedRestore"]

    init(_ root: FilePath, removing: Bool = false, isMounted: Bool = false) {
        self.root = root
        self.isMounted = isMounted
        removes = removing
    }

    deinit {
        if removes { try? LocalFileSystem().remove(root) }
    }

    /// What the program is given of the world.
    var environment: [String: String] {
        [
            "HOME": root.appending("home").string, "TMPDIR": root.appending("tmp").string,
            "TZ": "UTC", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "",
            "GROCERYDUDE_IDENTITY": root.appending("home/identity.txt").string,
            "GROCERYDUDE_STORES": stores.string, "GROCERYDUDE_REMOTE": remote.string,
            // Some scenarios encrypt, and the next backup does not.
            "GROCERYDUDE_RECIPIENTS": "none",
        ]
    }

    /// What runs a command where the stores directory is mounted on itself: in a mount namespace
    /// that goes with it, while what it did is seen from outside too.
    private var mounting: [String] {
        guard isMounted else { return [] }
        let script = "mount --bind \"$1\" \"$1\" && shift && exec \"$@\""
        return ["unshare", "-m", "sh", "-c", script, "sh", stores.string]
    }

    /// Runs a command to its end.
    func run(_ arguments: [String]) throws -> Tool.Outcome {
        let command = mounting + [Self.program] + arguments
        return try Tool.run(command[0], Array(command.dropFirst()), environment: environment)
    }

    /// Runs a command that has to succeed.
    @discardableResult
    func check(_ arguments: String...) throws -> Tool.Outcome {
        let outcome = try run(arguments)
        guard outcome.status == 0 else { throw Tool.Failure.failed(arguments[0], outcome) }
        return outcome
    }

    /// Runs a command with faults.
    func run(_ arguments: [String], injecting injection: Injection) throws -> InjectedRun {
        try InjectedRun(
            Self.program,
            arguments,
            environment: environment,
            below: root,
            log: root.removingLastComponent().appending("\(root.lastComponent?.string ?? "").log"),
            through: mounting,
            injecting: injection
        )
    }

    /// What is in the stores directory without what is a restore's own; `nil` where there is none.
    func contents() throws -> Contents? {
        guard try FileInfo.ifPresent(stores) != nil else { return nil }
        var contents = try Contents(of: stores)
        contents.items.removeAll { $0.path.components.first?.description == Self.area }
        return contents
    }

    /// What the remote folder shows: all that is not hidden.
    func archives() throws -> [String] {
        try names(in: remote).filter { !$0.hasPrefix(".") }
    }

    /// The archives that can come back, called as they were.
    func trashed() throws -> [String] {
        let trash = remote.appending(".grocerydude-trash")
        guard try FileInfo.ifPresent(trash) != nil else { return [] }
        // 20261121T090100.123Z [2026-Nov-20] 09.01 AM Stores.zip
        return try names(in: trash).map { String($0.drop { $0 != " " }.dropFirst()) }
    }

    /// What is there that should not be: traces of a run that did not clean up after itself.
    func leftovers() throws -> [String] {
        let caches = root.appending("home/.cache/grocerydude")
        var found = try names(in: root).filter {
            !["Stores", "Remote", "Other", "home", "tmp"].contains($0)
        }
        if try FileInfo.ifPresent(stores.appending(Self.area)) != nil {
            let names = try names(in: stores.appending(Self.area))
            found += names.isEmpty ? [Self.area] : names.map { "\(Self.area)/\($0)" }
        }
        found += try names(in: root.appending("tmp"))
        // What was deleted stays in the trash for a while, and notes stay beside the archives.
        let kept = [".grocerydude-trash", ".grocerydude-notes"]
        found += try names(in: remote).filter { $0.hasPrefix(".") && !kept.contains($0) }
        if try FileInfo.ifPresent(caches) != nil {
            found += try names(in: caches).filter { !["catalog.json", "state"].contains($0) }
        }
        return found
    }

    private func names(in directory: FilePath) throws -> [String] {
        try Directory.open(directory).names().map(\.description)
    }

    /// What an archive holds, unpacked and verified by the program.
    func contents(of archive: String) throws -> Contents {
        let target = root.removingLastComponent().appending("Unpacked-\(UUID().uuidString)")
        defer { try? LocalFileSystem().remove(target) }
        try check("restore", archive, "--target", target.string)
        return try Contents(of: target)
    }
}

extension Pseudorandom {
    /// Bytes that do not compress, the same ones for one seed.
    static func bytes(seed: UInt64, count: Int) -> [UInt8] {
        var generator = Pseudorandom(seed: seed)
        return generator.bytes(count)
    }
}
