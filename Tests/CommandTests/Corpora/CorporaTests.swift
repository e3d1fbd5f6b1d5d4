import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Real data of public projects, if the test data is beside the checkout.
enum Corpora {
    static let path = Fixtures.corpora

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

    /// All databases below some directories of it, whatever they are called.
    static func databases(in directories: [String]) throws -> [FilePath] {
        let others = [
            "-wal", "-shm", "-journal", ".md", ".xml", ".json", ".png", ".svg", ".txt", ".attrs",
            ".gitignore", "/wal",
        ]
        return try directories.flatMap { try files(in: $0) { _ in true } }.filter { path in
            !others.contains { path.string.hasSuffix($0) }
        }
    }

    /// Copies a database into a sandbox, with what SQLite keeps beside it.
    static func copy(_ database: FilePath, to directory: String, in sandbox: Sandbox) throws {
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

    private func rows(in database: FilePath, _ sql: String) throws -> String {
        try Tool.check("sqlite3", [database.string, sql])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("A backup includes 5,000 rows that are only in the log and not in the database file")
    func surfJournal() throws {
        guard Tool.isInstalled("sqlite3") else { return print("skipped: sqlite3 is not installed") }
        let database = try #require(
            Corpora.files(in: "coredata") { $0 == "SurfJournalModel.sqlite" }.first
        )
        try Corpora.copy(database, to: "Stores", in: sandbox)
        let before = try sandbox.contents(of: "Stores")
        #expect(try run("backup").status == 0)
        #expect(try sandbox.contents(of: "Stores") == before)
        #expect(try run("restore", "latest", "--yes", stores: "New").status == 0)
        let restored = sandbox.path("New/SurfJournalModel.sqlite")
        #expect(try rows(in: restored, "SELECT count(*) FROM ZJOURNALENTRY") == "5000")
    }

    @Test("A backup of Core Data stores without their external data names the missing files")
    func missingExternalData() throws {
        let databases = try Corpora.files(in: "coredata") {
            $0.hasSuffix("db") || $0.hasSuffix("wiredatabase") || $0.hasSuffix("sqlite")
        }
        .filter { $0.string.contains("wireapp") }
        try #require(!databases.isEmpty)
        var missing = 0
        for (number, database) in databases.enumerated() {
            try Corpora.copy(database, to: "Stores\(number)", in: sandbox)
            let outcome = try run("backup", stores: "Stores\(number)")
            #expect([0, 3].contains(outcome.status), "\(database): \(outcome.errors)")
            if outcome.errors.contains("refers to this file, and it is not there") { missing += 1 }
        }
        #expect(missing > 0)
    }
}
