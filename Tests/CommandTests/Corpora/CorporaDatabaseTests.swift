import CSQLite
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Every database of the test data as a live store and in an archive, against what SQLite says of a
/// copy of it.
@Suite(
    "Databases of real applications and of SQLite's own tests",
    .enabled(if: Corpora.isThere, "there is no test data beside the checkout")
)
struct CorporaDatabaseTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        for name in ["Remote", "Home", "Temporary"] { try sandbox.directory(name) }
    }

    private func run(_ arguments: String..., stores: String = "Stores") throws -> Tool.Outcome {
        try Tool.run(
            Tool.product("grocerydude"),
            arguments + [
                "--stores", sandbox.path(stores).string, "--remote", sandbox.path("Remote").string,
            ],
            environment: [
                "HOME": sandbox.path("Home").string, "TZ": "UTC", "XDG_CACHE_HOME": "",
                "TMPDIR": sandbox.path("Temporary").string,
            ],
            timeout: .seconds(60)
        )
    }

    // MARK: - What SQLite says

    /// What SQLite finds in a database that it may write to.
    private struct Findings {
        /// It is not one: no header, or none that SQLite takes.
        var isForeign = false
        /// Nothing can be read of it: the header, the schema, the count of pages.
        var cannotBeOpened = false
        /// Rows of a table cannot be counted.
        var cannotBeCounted = false
        var failsQuickCheck = false
        var failsFullCheck = false
        /// Rows refer to rows that are not there, which is no damage.
        var hasMissingParents = false
    }

    private func findings(_ database: FilePath) throws -> Findings {
        try Corpora.copy(database, to: "Reference", in: sandbox)
        defer { try? LocalFileSystem().remove(sandbox.path("Reference")) }
        let copy = sandbox.path("Reference/\(database.lastComponent?.string ?? "")")
        var findings = Findings()
        let start = try File.open(copy).readExactly(
            count: Int(min(16, FileInfo(of: copy).size)),
            at: 0
        )
        guard start.elementsEqual(Array("SQLite format 3\0".utf8)) else {
            findings.isForeign = true
            return findings
        }
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        #expect(sqlite3_open(copy.string, &handle) == SQLITE_OK)
        sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nil, nil, nil)
        let tables = rows(
            handle,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        )
        guard tables != .unknown else { return findings }
        guard case .rows(let names) = tables else {
            findings.cannotBeOpened = true
            return findings
        }
        findings.cannotBeCounted = names.contains { name in
            let quoted = name.replacingOccurrences(of: "\"", with: "\"\"")
            return rows(handle, "SELECT count(*) FROM \"\(quoted)\"") == .damaged
        }
        findings.failsQuickCheck = finds(handle, "PRAGMA quick_check(1)")
        let foreignKeys = rows(handle, "PRAGMA foreign_key_check")
        findings.failsFullCheck =
            finds(handle, "PRAGMA integrity_check(1)") || foreignKeys == .damaged
        findings.hasMissingParents = foreignKeys.hasRows && foreignKeys != .damaged
        return findings
    }

    private enum Answer: Equatable {
        case rows([String]), damaged
        /// A collation or a module that is not there.
        case unknown

        var hasRows: Bool {
            if case .rows(let rows) = self { !rows.isEmpty } else { self == .damaged }
        }
    }

    private func finds(_ handle: OpaquePointer?, _ pragma: String) -> Bool {
        let answer = rows(handle, pragma)
        return answer.hasRows && answer != .rows(["ok"])
    }

    private func rows(_ handle: OpaquePointer?, _ sql: String) -> Answer {
        func failure() -> Answer {
            // A schema with a name that SQLite here does not know is no damage.
            let message = String(cString: sqlite3_errmsg(handle))
            return message.hasPrefix("no such") || message.contains(") - no such ")
                ? .unknown : .damaged
        }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            return failure()
        }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
            case SQLITE_DONE: return .rows(rows)
            default: return failure()
            }
        }
    }

    // MARK: - What we do

    @Test("Every database is saved, checked and restored as SQLite's findings require")
    func everyDatabase() throws {
        let databases = try Corpora.databases(in: ["coredata", "sqlite-apps", "sqlite-corrupt"])
        #expect(databases.count > 130)
        var verdicts = Verdicts("databases")
        for database in Verdicts.sample(of: databases) {
            try Corpora.copy(database, to: "Stores", in: sandbox)
            let before = try sandbox.contents(of: "Stores")
            let findings = try findings(database)
            let plain = try run("backup", "--quiet")
            let checked = try run("backup", "--check", "--accept-changes")
            #expect(try sandbox.contents(of: "Stores") == before, "\(database)")
            // With the options that let it through, what was saved comes back.
            let quick = try run("restore", "latest", "--yes", "--no-safety-backup", stores: "New")
            try LocalFileSystem().remove(sandbox.path("New"))
            let full = try run(
                "restore",
                "latest",
                "--yes",
                "--check",
                "full",
                "--no-safety-backup",
                stores: "New"
            )
            try LocalFileSystem().remove(sandbox.path("New"))
            let anyway = try run(
                "restore",
                "latest",
                "--yes",
                "--allow-damaged",
                "--no-safety-backup",
                stores: "New"
            )
            #expect(anyway.status == 0, "\(database): \(anyway.errors)")
            try expectBytes(of: database, findings, "\(database)")
            let statuses = [plain, checked, quick, full].map { "\($0.status)" }
            verdicts.note(database, statuses.joined(separator: " "))
            expect(findings, plain, checked, quick, full, "\(database)")
            for directory in ["Stores", "New", "Remote"] {
                try LocalFileSystem().remove(sandbox.path(directory))
            }
            try sandbox.directory("Remote")
            #expect(try Directory.open(sandbox.path("Temporary")).names() == [], "\(database)")
        }
        try verdicts.compare()
    }

    private func expect(
        _ findings: Findings,
        _ plain: Tool.Outcome,
        _ checked: Tool.Outcome,
        _ quick: Tool.Outcome,
        _ full: Tool.Outcome,
        _ comment: Comment
    ) {
        func isReported(_ outcome: Tool.Outcome) -> Bool {
            // The folder is emptied for each of them.
            outcome.errors.split(separator: "\n").contains {
                $0.contains("warning: ") && !$0.contains("no earlier one is left")
            }
        }
        func isDamage(_ outcome: Tool.Outcome) -> Bool { outcome.errors.contains("damaged") }
        let isSeen = findings.cannotBeOpened || findings.cannotBeCounted
        // What the cut itself shows, and what a check of all finds besides.
        #expect(isDamage(plain) == isSeen, comment)
        #expect(plain.status == (isReported(plain) ? 3 : 0), comment)
        #expect(isDamage(checked) == (isSeen || findings.failsFullCheck), comment)
        #expect(checked.status == (isReported(checked) ? 3 : 0), comment)
        #expect(
            checked.errors.contains("that are not there") == findings.hasMissingParents,
            comment
        )
        // And what a restore refuses.
        let isBad = findings.cannotBeOpened || findings.failsQuickCheck
        #expect(quick.status == (isBad ? 21 : 0), comment)
        #expect(full.status == (isBad || findings.failsFullCheck ? 21 : 0), comment)
        for outcome in [quick, full] where outcome.status == 21 {
            #expect(outcome.errors.contains("your data is as it was"), comment)
            #expect(outcome.errors.contains("--allow-damaged"), comment)
        }
    }

    /// What has nothing to be folded in comes back byte for byte, however damaged it is.
    private func expectBytes(
        of database: FilePath,
        _ findings: Findings,
        _ comment: Comment
    ) throws {
        let name = database.lastComponent?.string ?? ""
        let sidecars = try ["-wal", "-journal"].contains {
            try FileInfo.ifPresent(FilePath(database.string + $0)) != nil
        }
        guard !sidecars else { return }
        let saved = try sandbox.read("New/\(name)")
        let original = try sandbox.read("Stores/\(name)")
        // A database is as long as its header says; what a file has beyond that is nobody's.
        #expect(original.starts(with: saved), comment)
        #expect(saved.count == original.count || !findings.cannotBeOpened, comment)
    }
}
