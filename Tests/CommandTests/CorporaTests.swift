import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Real data of public projects, where the test data stands beside the checkout.
enum Corpora {
    static let path =
        ProcessInfo.processInfo.environment["GROCERYDUDE_CORPORA"].map { FilePath($0) }
        ?? FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().removingLastComponent().appending("shared/corpora")

    static var isThere: Bool { (try? FileInfo(of: path)) != nil }

    /// All files below a directory of it.
    static func files(in directory: String, where isWanted: (String) -> Bool) throws -> [FilePath] {
        var files: [FilePath] = []
        let root = path.appending(directory)
        try Directory.open(root).walk(failed: { throw $1 }) { file in
            if file.info.kind == .file, isWanted(file.name.description) {
                files.append(file.path.below(root))
            }
            return .descend
        }
        return files
    }
}

@Suite("Real data", .enabled(if: Corpora.isThere, "there is no test data beside the checkout"))
struct CorporaTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
    }

    private func run(_ arguments: String..., stores: String = "Stores") throws -> Tool.Outcome {
        try Tool.run(
            Tool.product("grocerydude"),
            arguments + [
                "--stores", sandbox.path(stores).string, "--remote", sandbox.path("Remote").string,
            ],
            environment: ["HOME": sandbox.path.string, "TZ": "UTC"],
            timeout: .seconds(60)
        )
    }

    /// Copies a database of the corpora, with what SQLite keeps beside it.
    private func copy(_ database: FilePath, to directory: String) throws {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let source = FilePath(database.string + suffix)
            guard try FileInfo.ifPresent(source) != nil else { continue }
            let bytes = try File.open(source).readExactly(
                count: Int(FileInfo(of: source).size),
                at: 0
            )
            try sandbox.write(bytes, to: "\(directory)/\(source.lastComponent?.string ?? "")")
        }
    }

    private func rows(in database: FilePath, _ sql: String) throws -> String {
        try Tool.check("sqlite3", [database.string, sql])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("has what a log holds: 5,000 rows of which none is in the database file")
    func surfJournal() throws {
        guard Tool.isInstalled("sqlite3") else { return print("skipped: sqlite3 is not installed") }
        let database = try #require(
            Corpora.files(in: "coredata") { $0 == "SurfJournalModel.sqlite" }.first
        )
        try copy(database, to: "Stores")
        let before = try sandbox.contents(of: "Stores")
        #expect(try run("backup").status == 0)
        #expect(try sandbox.contents(of: "Stores") == before)
        #expect(try run("restore", "latest", "--yes", stores: "New").status == 0)
        let restored = sandbox.path("New/SurfJournalModel.sqlite")
        #expect(try rows(in: restored, "SELECT count(*) FROM ZJOURNALENTRY") == "5000")
    }

    @Test("of Core Data stores whose external data is not there says which files are missing")
    func missingExternalData() throws {
        let databases = try Corpora.files(in: "coredata") {
            $0.hasSuffix("db") || $0.hasSuffix("wiredatabase") || $0.hasSuffix("sqlite")
        }
        .filter { $0.string.contains("wireapp") }
        try #require(!databases.isEmpty)
        var missing = 0
        for (number, database) in databases.enumerated() {
            try copy(database, to: "Stores\(number)")
            let outcome = try run("backup", stores: "Stores\(number)")
            #expect([0, 3].contains(outcome.status), "\(database): \(outcome.errors)")
            if outcome.errors.contains("refers to this file, and it is not there") { missing += 1 }
        }
        #expect(missing > 0)
    }

    @Test("of every kind of database is saved without changing a byte, and comes back")
    func everyDatabase() throws {
        let databases = try ["coredata", "sqlite-apps", "sqlite-corrupt"].flatMap { folder in
            try Corpora.files(in: folder) { name in
                !["-wal", "-shm", "-journal", ".md", ".xml", ".json"].contains {
                    name.hasSuffix($0)
                }
            }
        }
        // One stores directory for all of them, as no application has it.
        for (number, database) in databases.enumerated() {
            try copy(database, to: "Stores/\(number)")
        }
        let before = try sandbox.contents(of: "Stores")
        let backup = try run("backup")
        #expect(backup.status == 3)
        #expect(try sandbox.contents(of: "Stores") == before)
        let restored = try run(
            "restore",
            "latest",
            "--yes",
            "--check",
            "none",
            "--allow-damaged",
            stores: "New"
        )
        #expect(restored.status == 0, "\(restored.errors)")
        // What is no store, or too damaged for one, has the same bytes as before.
        let after = try sandbox.contents(of: "New")
        #expect(after.items.count { $0.kind == .file } >= databases.count)
        // Damage that SQLite finds makes a restore refuse, and say so.
        let refused = try run("restore", "latest", "--yes", "--no-safety-backup", stores: "New")
        #expect(refused.status == 21)
        #expect(refused.errors.contains("your data is as it was"))
        #expect(try sandbox.contents(of: "New") == after)
    }

    @Test("in zips of other archivers' tests is restored or refused, and nothing else happens")
    func everyZip() throws {
        let zips = try Corpora.files(in: "zip") { $0.hasSuffix(".zip") || $0.hasSuffix(".jar") }
        try sandbox.write("untouched", to: "Work/canary")
        try sandbox.write("mine", to: "Work/Stores/file")
        let canary = try sandbox.contents(of: "Work")
        var verdicts: [Int32: Int] = [:]
        for (number, zip) in zips.enumerated() {
            let bytes = try File.open(zip).readExactly(count: Int(FileInfo(of: zip).size), at: 0)
            try sandbox.write(bytes, to: "Remote/\(number) Stores.zip")
            let outcome = try run(
                "restore",
                "\(number) Stores.zip",
                "--yes",
                "--no-safety-backup",
                stores: "Work/Stores"
            )
            let name = zip.lastComponent?.string ?? ""
            #expect(
                [0, 12, 21].contains(outcome.status),
                "\(name): \(outcome.status) \(outcome.errors)"
            )
            verdicts[outcome.status, default: 0] += 1
            if outcome.status == 0 {
                try LocalFileSystem().remove(sandbox.path("Work/Stores"))
                try sandbox.write("mine", to: "Work/Stores/file")
            }
            let names = try sandbox.contents(of: "Work").items.map(\.path.description)
            #expect(names == canary.items.map(\.path.description), "\(name)")
            #expect(try sandbox.read("Work/Stores/file") == Array("mine".utf8), "\(name)")
            try LocalFileSystem().remove(sandbox.path("Remote/\(number) Stores.zip"))
        }
        print(
            "zips restored: \(verdicts[0] ?? 0), refused: \(verdicts[21] ?? 0), encrypted: \(verdicts[12] ?? 0)"
        )
        #expect(verdicts[0, default: 0] > 100 && verdicts[21, default: 0] > 50)
    }
}
