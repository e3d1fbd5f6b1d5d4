import Files
import SystemPackage
import TestSupport
import Testing

/// Runs of a user after one of root with the same home directory, as 'sudo' leaves it on some systems.
@Suite(
    "After a run as root",
    .enabled(
        if: OrdinaryUser.isRoot && OrdinaryUser.isPossible,
        "only root can run the program as two users"
    )
)
struct RootHomeTests {
    private let sandbox: Sandbox
    private var places: [String] {
        ["--stores", sandbox.path("Stores").string, "--remote", sandbox.path("Remote").string]
    }

    /// Makes a backup as root, whose files are all root's.
    init() throws {
        sandbox = try Sandbox()
        for name in ["Home", "Stores", "Remote"] { try sandbox.directory(name) }
        try StoreApplication(
            on: sandbox.path("Stores/app.sqlite"),
            "CREATE TABLE t AS SELECT 1 AS x"
        ).end()
        try Tool.check("chmod", ["755", sandbox.path.string])
        try Tool.check("chown", ["-R", "65534:65534", sandbox.path.string])
        let backup = try Tool.run(Program.path, ["backup"] + places, environment: environment)
        #expect(backup.status == 0, "\(backup.errors)")
    }

    private var environment: [String: String] {
        [
            "HOME": sandbox.path("Home").string, "TZ": "UTC", "XDG_DATA_HOME": "",
            "XDG_CACHE_HOME": "", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "TMPDIR": "/tmp",
        ]
    }

    /// Runs a command as the user, who never reads of damage.
    @discardableResult
    private func run(_ arguments: String..., status: Int32) throws -> String {
        let outcome = try OrdinaryUser.run(arguments + places, environment)
        let text = outcome.text + outcome.errors
        #expect(outcome.status == status, "\(arguments): \(text)")
        #expect(!text.lowercased().contains("damaged"), "\(arguments): \(text)")
        return text
    }

    @Test("an archive that may not be read is not called damaged")
    func archive() throws {
        #expect(try run("list", status: 0).contains("cannot be read: permission denied"))
        try run("status", status: 3)
        let restore = try run("restore", "latest", "--yes", status: 21)
        #expect(restore.contains("the newest, cannot be read (permission denied)"), "\(restore)")
        let check = try run("check", status: 1)
        let names = try Directory.open(sandbox.path("Remote")).names().map(\.description)
        let path = sandbox.path("Remote/\(names.first { !$0.hasPrefix(".") } ?? "")")
        #expect(check.contains("sudo chown -R \"$(id -un)\" \(shellWord(path))"), "\(check)")
    }

    @Test(
        "keys that may not be read keep no backup from being made, and the reason is said",
        arguments: [true, false]
    )
    func keys(areDirectoriesOfRoot: Bool) throws {
        let state = "Home/.local/state/grocerydude"
        try sandbox.write("a voucher", to: "\(state)/signing_key.vouchers")
        if !areDirectoriesOfRoot {
            let names = ["Home/.cache", "Home/.cache/grocerydude", "Home/.local", state]
            let paths = (names + ["Home/.local/state"]).map { sandbox.path($0).string }
            try Tool.check("chown", ["65534:65534"] + paths)
        }
        let backup = try run("backup", status: 3)
        let taken = areDirectoriesOfRoot ? "Home/.local" : "\(state)/signing_key"
        let advice = "permission denied (root made it in a directory of yours: sudo chown -R"
        #expect(backup.contains("the backup is not signed: cannot "), "\(backup)")
        #expect(backup.contains("\(advice) \"$(id -un)\" \(sandbox.path(taken)))"), "\(backup)")
        #expect(try run("list", status: 0).contains("the trusted keys cannot be read: cannot "))
        #expect(try run("prune", "--keep-last", "3", status: 1).contains("sudo chown -R"))
    }
}
