import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'setup' on a pseudo-terminal.
@Suite("A setup's conversation", .enabled(if: Terminal.isThere, "Python 3 is not installed"))
struct SetupConversationTests {
    let home: SetupHome
    private let stores: String

    private static let kind = ["--kind", "cron"]

    init() throws {
        home = try SetupHome()
        stores = home.sandbox.path("Vault").string
    }

    private var sandbox: Sandbox { home.sandbox }

    /// The answers to all questions, without the one before the steps; nobody is notified.
    private func answers(_ first: String...) -> [String] {
        first + ["none"]
    }

    @Test("A conversation asks everything, shows its plan, and does it")
    func whole() throws {
        let outcome = try home.talk(
            answers(stores, home.folder, "no", "hourly", "week") + ["y"],
            Self.kind
        )
        for line in [
            "1 store (Grocery-Dude.sqlite), ", "'\(home.folder)': it will be made\n",
            "this will be done:\n", "1. grocerydude link \(home.folder) ",
            "  schedule: hourly\n", "1 of 5: grocerydude link",
            "'\(sandbox.path(SetupHome.piece))' is now:\n",
        ] { #expect(outcome.text.contains(line), "\(line) \(outcome.text)") }
        #expect(try home.text().contains("keep_hourly: \"24\""))
        #expect(try home.text("table").contains("0 * * * *"))
        // The second time, the answers are those of before.
        let again = try home.talk(answers("", "", "", "daily 04:00", "month") + ["y"], Self.kind)
        #expect(again.text.contains("Which directory has the application's data? [\(stores)]"))
        #expect(again.text.contains("Which folder do its backups go to? [\(home.folder)]"))
        #expect(again.text.contains("(yes or no) [no]"))
        #expect(again.text.contains("How often are they made? [hourly]"))
        #expect(again.text.contains("(week, month, year) [week]"))
        #expect(try home.text().contains("schedule: \"daily 04:00\""))
        #expect(try !home.text().contains("keep_hourly"))
    }

    @Test("A conversation asks again after answers that make no sense, with the reason")
    func nonsense() throws {
        try sandbox.write("mine", to: "Documents/letter")
        try sandbox.directory("Empty")
        let outcome = try home.talk(
            answers(
                "",
                sandbox.path("Empty").string,
                "/no\u{1B}[2Jwhere",
                String(repeating: "x", count: 3000),
                "~/Vault",
                "",
                "~/Documents",
                "~/Vault/Backups",
                "Disk/vault",
                "maybe",
                "no",
                "daily 25:00",
                "'; rm -rf /",
                "daily 03:30",
                "ever",
                "present",
                "week"
            ) + ["n"],
            Self.kind,
            status: 1
        )
        for words in [
            "an answer is needed", "there is no SQLite database",
            "has other data in it, such as 'letter'",
            "is inside the stores directory", "'maybe' is not one of yes, no",
            "'daily 25:00' is not a schedule", "'ever' is not one of week, month, year",
            "'present' is not one of", "nothing was changed",
        ] { #expect(outcome.text.contains(words), "\(words): \(outcome.text)") }
        #expect(!sandbox.exists(".config/grocerydude") && !sandbox.exists("Disk/vault"))
    }

    @Test("A conversation makes a key, and goes on once the copy is tried")
    func key() throws {
        // The key is there already, so that its letters are known.
        try home.run(["key", "generate"])
        let secret = try #require(
            home.text(SetupHome.identity).firstMatch(of: #/AGE-SECRET-KEY-\S+/#)
        )
        let end = String(secret.output.suffix(6))
        try home.install("#!/bin/sh\necho \"QR of $(wc -c) with $*\"\n", as: "qrencode")
        let outcome = try home.talk(
            answers(stores, home.folder, "", "", "") + ["y", "wrong!", " \(end.lowercased()) "],
            Self.kind
        )
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.contains("SECRET KEYS OF ENCRYPTED BACKUPS (https://age-encryption.org)"))
        #expect(lines.contains("QR of 74 with -t UTF8 -o -"), "\(outcome.text)")
        #expect(outcome.text.contains("those are not the last letters of the key"))
        #expect(!outcome.text.contains("was not tried"))
        #expect(outcome.text.contains("opens"))
        #expect(try home.archives().allSatisfy { $0.hasSuffix(".zip.age") })
        #expect(try home.text("table").contains("BEGIN grocerydude-backup-default"))
    }

    @Test("A conversation goes on without a copy of the key, and warns")
    func later() throws {
        let outcome = try home.talk(
            answers(stores, home.folder, "yes", "", "") + ["y", "later"],
            Self.kind
        )
        #expect(outcome.text.contains("warning: the copy of the key was not tried"))
        #expect(sandbox.exists(SetupHome.identity))
    }

    @Test("A conversation that is interrupted changes nothing before its last question")
    func interrupted() throws {
        for count in 0...4 {
            let given = [stores, home.folder, "no", "hourly"].prefix(count)
            let outcome = try home.talk(given + ["\u{3}"], Self.kind, status: 130)
            #expect(outcome.text.contains("interrupted"), "\(outcome.text)")
        }
        // The end of the input, as by Ctrl-D.
        let ended = try home.talk([stores, home.folder, "\u{4}"], Self.kind, status: 1)
        #expect(ended.text.contains("nothing was changed"), "\(ended.text)")
        #expect(ended.text.contains("in one line: grocerydude setup --stores DIR"))
        #expect(!sandbox.exists(".config/grocerydude") && !sandbox.exists("Disk/vault"))
    }

    @Test("A setup that is interrupted in the middle says what is left, and goes on later")
    func interruptedInside() throws {
        let begun = answers(stores, home.folder, "yes", "", "") + ["y"]
        for (key, status) in [("\u{3}", Int32(130)), ("\u{4}", 1)] {
            let outcome = try home.talk(begun + [key], Self.kind, status: status)
            #expect(outcome.text.contains("not done:\n  copy the key"), "\(outcome.text)")
            #expect(outcome.text.contains("to go on, run: grocerydude setup --stores "))
            #expect(!sandbox.exists("table"))
            #expect(try home.archives().isEmpty)
            try LocalFileSystem().remove(sandbox.path(".config"))
        }
        _ = try home.talk(begun + ["\u{3}"], Self.kind, status: 130)
        try home.setUp(["--yes"])
        #expect(try home.archives().count == 1)
        #expect(try home.text("table").contains("BEGIN grocerydude-backup-default"))
    }

    @Test("A conversation asks only what no option says")
    func given() throws {
        let outcome = try home.talk(
            answers() + ["y"],
            home.places + ["--no-encrypt", "--schedule", "daily", "--keep", "month"]
        )
        #expect(!outcome.text.contains("Which") && !outcome.text.contains("How "))
    }

    @Test("A conversation names the processes that have a store open, and synchronised folders")
    func users() throws {
        try sandbox.write("", to: "Nextcloud/.sync_0123456789ab.db")
        try home.program.make(stores: "Nextcloud/Data", remote: "Disk")
        let path = sandbox.path("Nextcloud/Data/Grocery-Dude.sqlite").string
        let user = try RunningTool("sqlite3", [path])
        try user.writeLine("SELECT 'ready' FROM item LIMIT 1;")
        #expect(try user.readLine() == "ready")
        let outcome = try home.talk(["~/Nextcloud/Data", "\u{3}"], Self.kind, status: 130)
        #expect(outcome.text.contains("open in process \(user.processIdentifier) (sqlite3 "))
        #expect(outcome.text.contains("which Nextcloud synchronises"))
    }
}
