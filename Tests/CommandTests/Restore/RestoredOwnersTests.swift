import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A restore by root, on a machine where users have other numbers.
@Suite(
    "Owners of files that root restores",
    .enabled(if: OrdinaryUser.isRoot, "only root gives files away")
)
struct RestoredOwnersTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        for name in ["Stores/sub", "Remote"] { try sandbox.directory(name) }
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try Tool.check("sqlite3", [sandbox.path("Stores/app.db").string, "CREATE TABLE t (x)"])
        for name in ["sub/note", "root", "other"] { try sandbox.write("old", to: "Stores/\(name)") }
    }

    private func give(_ owners: String...) throws {
        for owner in owners {
            let words = owner.split(separator: " ").map(String.init)
            let path = words[1] == "." ? sandbox.path("Stores") : sandbox.path("Stores/\(words[1])")
            try Tool.check("chown", ["-h", words[0], path.string])
        }
    }

    private func owners(in directory: String = "Stores") throws -> String {
        let names = ["", "app.db", "sub", "sub/note", "root", "other"]
        return try names.map {
            let info = try FileInfo(of: sandbox.path($0.isEmpty ? directory : "\(directory)/\($0)"))
            return "\(info.owner):\(info.group)"
        }.joined(separator: " ")
    }

    private func savedByAnother() throws {
        try give(
            "1001:1001 .",
            "1001:1001 app.db",
            "1001:1001 sub",
            "1001:33 sub/note",
            "0:0 root",
            "33:33 other"
        )
        try program.expect("backup", "--quiet")
        try give("2002:2002 .", "2002:2002 app.db", "2002:2002 sub", "0:0 root", "7:7 other")
        try LocalFileSystem().remove(sandbox.path("Stores/sub/note"))
    }

    @Test("Restored files get the owners of the present data, and root's files stay root's")
    func presentWin() throws {
        try savedByAnother()
        let outcome = try program.expect("restore", "latest", "--yes")
        #expect(
            outcome.errors.contains(
                "the present owners stay: the stores directory is of user 2002, and was of user 1001 in the backup"
            )
        )
        #expect(try owners() == "2002:2002 2002:2002 2002:2002 2002:2002 0:0 7:7")
        try program.expect("restore", "latest", "--only", "sub", "other", "--yes")
        #expect(try owners() == "2002:2002 2002:2002 2002:2002 2002:2002 0:0 7:7")
        // Elsewhere nothing is present.
        try program.expect("restore", "latest", "--target", "Elsewhere")
        #expect(try owners(in: "Elsewhere").hasSuffix("1001:1001 1001:1001 1001:33 0:0 33:33"))
    }

    @Test(
        "Restored files get the backup's numbers on request, or if no present data differs"
    )
    func numbers() throws {
        try savedByAnother()
        let saved = "1001:1001 1001:1001 1001:1001 1001:33 0:0 33:33"
        let outcome = try program.expect("restore", "latest", "--yes", "--numeric-owner")
        #expect(
            outcome.errors.contains(
                "owners are those of the backup: the stores directory is of user 2002"
            )
        )
        #expect(try owners() == saved)
        try give("5:5 app.db")
        let same = try program.expect("restore", "latest", "--yes")
        #expect(!same.errors.contains("owners"))
        #expect(try owners() == saved)
        try LocalFileSystem().remove(sandbox.path("Stores"))
        try program.expect("restore", "latest", "--yes")
        #expect(try owners() == saved)
    }

    @Test("Restored files get the owner of the stores directory if the archive knows none")
    func foreign() throws {
        let zip = sandbox.path("Remote/Other Stores.zip").string
        try Tool.check("zip", ["-qrX", zip, "."], directory: sandbox.path("Stores"))
        try give("2002:2002 .", "2002:2002 app.db", "0:0 root")
        try LocalFileSystem().remove(sandbox.path("Stores/sub"))
        let outcome = try program.expect("restore", "Other", "--yes")
        #expect(
            outcome.errors.contains(
                "the present owners stay: the stores directory is of user 2002\n"
            )
        )
        #expect(try owners() == "2002:2002 2002:2002 2002:2002 2002:2002 0:0 0:0")
    }
}
