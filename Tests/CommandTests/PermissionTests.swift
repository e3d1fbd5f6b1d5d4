import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The one who runs the tests, or for root the user 65534.
enum OrdinaryUser {
    static let isRoot = geteuid() == 0
    static let number: UInt32 = isRoot ? 65534 : geteuid()

    /// The toolchain's libraries may be where only root may go.
    static let isPossible = (try? run(["--version"], [:]))?.status == 0

    static func run(
        _ arguments: [String],
        _ environment: [String: String],
        umask: String = "022"
    ) throws -> Tool.Outcome {
        let shell = ["sh", "-c", "umask \(umask); exec \"$@\"", "sh", Tool.product("grocerydude")]
        let command =
            (isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"])
            + shell + arguments
        return try Tool.run(
            command[0],
            Array(command.dropFirst()),
            environment: environment,
            directory: "/"
        )
    }
}

/// The built program as a user who may not do everything.
@Suite(
    "Commands of an ordinary user",
    .enabled(
        if: OrdinaryUser.isPossible,
        "there is no setpriv, or the user 65534 may not run it"
    )
)
struct PermissionTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        for name in ["Home", "Parent/Stores", "Remote"] { try sandbox.directory(name) }
        try give("Home", "Parent/Stores", "Remote")
        try mode(0o755, "")
        try mode(0o755, "Parent")
        #expect(try run("init").status == 0)
    }

    private var environment: [String: String] {
        [
            "HOME": sandbox.path("Home").string, "TZ": "UTC", "XDG_DATA_HOME": "",
            "XDG_CACHE_HOME": "", "TMPDIR": "/tmp",
            "GROCERYDUDE_STORES": sandbox.path("Parent/Stores").string,
            "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
        ]
    }

    private func run(_ arguments: String..., umask: String = "022") throws -> Tool.Outcome {
        try OrdinaryUser.run(arguments, environment, umask: umask)
    }

    /// Gives names to the user.
    private func give(_ names: String...) throws {
        for name in names where OrdinaryUser.isRoot {
            let directory = try Directory.open(sandbox.path(name))
            try directory.setOwner(OrdinaryUser.number, group: OrdinaryUser.number)
        }
    }

    private func mode(_ mode: UInt16, _ name: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: Int(mode)],
            ofItemAtPath: sandbox.path(name).string
        )
    }

    @Test("A directory that its owner may not change is restored in a directory that stays")
    func readOnlyDirectory() throws {
        try sandbox.write("1", to: "Parent/Stores/closed/file")
        try mode(0o644, "Parent/Stores/closed/file")
        try give("Parent/Stores/closed")
        try mode(0o555, "Parent/Stores/closed")
        #expect(try run("backup").status == 0)
        try mode(0o555, "Parent")
        defer { try? mode(0o755, "Parent") }
        // In its place already, and gone.
        for _ in 0..<2 {
            let restore = try run("restore", "latest", "--yes")
            #expect(restore.status == 0, "\(restore.errors)")
            let closed = sandbox.path("Parent/Stores/closed")
            #expect(try FileInfo(of: closed).mode == 0o555)
            #expect(try sandbox.read("Parent/Stores/closed/file") == Array("1".utf8))
            try mode(0o755, "Parent/Stores/closed")
            try LocalFileSystem().remove(closed)
        }
    }

    @Test("A partial backup names each file that cannot be read")
    func unreadable() throws {
        try sandbox.write("x", to: "Parent/Stores/secret")
        try sandbox.write("x", to: "Parent/Stores/closed/file")
        try sandbox.write(
            try sandbox.read("Parent/Stores/Grocery-Dude.sqlite"),
            to: "Parent/Stores/other.sqlite"
        )
        for name in ["secret", "closed", "other.sqlite"] { try mode(0, "Parent/Stores/\(name)") }
        let backup = try run("backup")
        #expect(backup.status == 3, "\(backup.errors)")
        for name in ["secret", "closed", "other.sqlite"] {
            let lines = backup.errors.split(separator: "\n").filter {
                $0.contains("warning: '\(name)'") && $0.contains("permission denied")
            }
            #expect(lines.count == 1, "\(backup.errors)")
        }
        #expect(try run("show", "latest").text.contains("Grocery-Dude.sqlite"))
        // Nothing is said of the rows that cannot be read, and the rest is compared and searched.
        let difference = try run("diff")
        #expect(difference.status == 3, "\(difference.errors)")
        #expect(!difference.text.contains("other.sqlite") && !difference.text.contains("closed"))
        for name in ["secret", "closed", "other.sqlite"] {
            #expect(difference.errors.contains("\(name)'"), "\(difference.errors)")
        }
        let found = try run("find", "Milk")
        #expect(found.status == 3 && !found.text.contains("gone"), "\(found.text)\(found.errors)")
        // It would be gone for good.
        let before = try sandbox.contents(of: "Parent").paths
        let rows = try #require(try run("list", "--json").json as? [[String: Any]])
        let name = try #require(rows.first?["name"] as? String)
        let restore = try run("restore", name, "--yes")
        #expect(restore.status == 21, "\(restore.errors)")
        #expect(restore.errors.contains("cannot be backed up before it is replaced: 'closed': "))
        #expect(restore.errors.contains(", and 2 more"), "\(restore.errors)")
        #expect(restore.errors.contains("'--no-safety-backup'"))
        #expect(try sandbox.contents(of: "Parent").paths == before)
    }

    @Test(
        "A restore is refused before any change if it may not move what the backup left out"
    )
    func leftOutNotMovable() throws {
        #expect(try run("backup", "--exclude", "*.tmp").status == 0)
        try sandbox.write("x", to: "Parent/Stores/closed/a.tmp")
        try give("Parent/Stores/closed")
        try mode(0o555, "Parent/Stores/closed")
        let before = try sandbox.contents(of: "Parent/Stores").paths
        let restore = try run("restore", "latest", "--yes")
        #expect(restore.status == 21, "\(restore.errors)")
        #expect(restore.errors.contains("closed/a.tmp', which cannot be kept in place"))
        #expect(try sandbox.contents(of: "Parent/Stores").paths == before)
        try mode(0o755, "Parent/Stores/closed")
        #expect(try run("restore", "latest", "--yes").status == 0)
        #expect(sandbox.exists("Parent/Stores/closed/a.tmp"))
    }

    @Test("A part that may not be moved is refused, and other such files do not hinder a part")
    func partNotMovable() throws {
        for name in ["shelf/book", "closed/deep/file", "plain/1"] {
            try sandbox.write("old", to: "Parent/Stores/\(name)")
        }
        func giveAll() throws {
            let user = "\(OrdinaryUser.number):\(OrdinaryUser.number)"
            try Tool.check("chown", ["-R", user, sandbox.path("Parent/Stores").string])
        }
        try giveAll()
        try mode(0o555, "Parent/Stores/closed/deep")
        #expect(try run("backup").status == 0)
        try mode(0o555, "Parent/Stores/shelf")
        let before = try sandbox.contents(of: "Parent/Stores").paths
        let restore = try run("restore", "latest", "--yes", "--only", "shelf/book")
        #expect(restore.status == 21, "\(restore.errors)")
        #expect(restore.errors.contains("Stores/shelf' may not be changed"), "\(restore.errors)")
        #expect(restore.errors.contains("hint: give its owner write permission: chmod u+w /"))
        #expect(try sandbox.contents(of: "Parent/Stores").paths == before)
        // A directory of the user moves as a whole, whatever its permissions.
        let shelf = try run("restore", "latest", "--yes", "--only", "shelf")
        #expect(shelf.status == 0, "\(shelf.errors)")
        // In the backup it may not be changed, and it is gone.
        try LocalFileSystem().remove(sandbox.path("Parent/Stores/closed/deep"))
        let deep = try run("restore", "latest", "--yes", "--only", "closed/deep/file")
        #expect(deep.status == 0, "\(deep.errors)")
        #expect(try FileInfo(of: sandbox.path("Parent/Stores/closed/deep")).mode == 0o555)
        #expect(try run("restore", "latest", "--yes", "--only", "closed").status == 0)
        #expect(sandbox.exists("Parent/Stores/closed/deep/file"))
        // What cannot be read cannot be saved first, and needs not to be.
        try sandbox.write("secret", to: "Parent/Stores/secret")
        try giveAll()
        try mode(0, "Parent/Stores/secret")
        try sandbox.write("new", to: "Parent/Stores/plain/1")
        try giveAll()
        #expect(try run("restore", "latest", "--yes", "--only", "secret").status == 1)
        let plain = try run("restore", "latest", "--yes", "--only", "plain")
        #expect(plain.status == 0, "\(plain.errors)")
        #expect(try sandbox.read("Parent/Stores/plain/1") == Array("old".utf8))
    }

    @Test("A stores directory in a read-only directory is restored inside")
    func parentNotWritable() throws {
        try mode(0o555, "Parent")
        #expect(try run("backup").status == 0)
        #expect(try run("items", "remove", "Apples").status == 0)
        let restore = try run("restore", "latest", "--yes")
        #expect(restore.status == 0, "\(restore.errors)")
        #expect(try run("items").text.contains("Apples"))
        #expect(
            try sandbox.contents(of: "Parent").paths == ["Stores", "Stores/Grocery-Dude.sqlite"]
        )
    }

    @Test("A file that may not be changed is named, and stays")
    func notWritable() throws {
        #expect(try run("backup").status == 0)
        if OrdinaryUser.isRoot {
            let stores = try Directory.open(sandbox.path("Parent/Stores"))
            try stores.setOwner(0, group: 0)
        }
        try mode(0o555, "Parent/Stores")
        try mode(0o555, "Parent")
        #expect(try run("backup").status == 0)
        let before = try sandbox.contents(of: "Parent")
        let restore = try run("restore", "latest", "--yes")
        #expect(restore.status == 21)
        #expect(restore.errors.contains("permission denied"))
        #expect(restore.errors.contains("run as the owner of '\(sandbox.path("Parent/Stores"))'"))
        #expect(try sandbox.contents(of: "Parent") == before)
        if OrdinaryUser.isRoot {
            let remote = try Directory.open(sandbox.path("Remote"))
            try remote.setOwner(0, group: 0)
        }
        try mode(0o555, "Remote")
        let backup = try run("backup")
        #expect(backup.status == 1)
        #expect(backup.errors.contains("nothing was changed: cannot create"))
        #expect(backup.errors.contains("run as the owner of '\(sandbox.path("Remote"))'"))
        try mode(0, "Parent/Stores")
        for command in [["backup"], ["restore", "latest", "--yes"]] {
            let outcome = try OrdinaryUser.run(command, environment)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("cannot open '\(sandbox.path("Parent/Stores"))'"))
        }
        #expect(try run("list").errors.split(separator: "\n").count == 1)
    }

    @Test(
        "Archives have mode 0600 and directories 0700, whatever the umask",
        arguments: ["000", "0777"]
    )
    func umask(_ umask: String) throws {
        var surroundings = environment
        surroundings["GROCERYDUDE_STORES"] = ""
        surroundings["GROCERYDUDE_REMOTE"] = ""
        let commands = [
            ["init"], ["backup"], ["backup"], ["restore", "latest", "--yes"],
            ["restore", "latest", "--yes", "--target", sandbox.path("Home/one/two").string],
        ]
        for command in commands {
            let outcome = try OrdinaryUser.run(command, surroundings, umask: umask)
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
        var archives = 0
        for item in try sandbox.contents(of: "Home").items {
            let isStores =
                item.path.description.contains("Stores/")
                || item.path.description.hasPrefix("one/two")
            switch item.kind {
            case .directory where !isStores: #expect(item.mode == 0o700, "\(item)")
            case .file where !isStores:
                #expect(item.mode == 0o600, "\(item)")
                if item.path.description.hasSuffix(".zip") { archives += 1 }
            default: break
            }
        }
        #expect(archives == 3)
    }

    @Test(
        "Root restores owners, and other users get one message that owners are lost",
        .enabled(if: OrdinaryUser.isRoot, "only root may give files away")
    )
    func owners() throws {
        for (name, owner) in [("a", UInt32(0)), ("b", 1), ("dir/c", 12345)] {
            try sandbox.write(name, to: "Parent/Stores/\(name)")
            try mode(0o4755, "Parent/Stores/\(name)")
            let file = try File.open(sandbox.path("Parent/Stores/\(name)"))
            try file.setOwner(owner, group: owner + 1)
        }
        try mode(0o2770, "Parent/Stores/dir")
        func owners(_ directory: String) throws -> [String] {
            try sandbox.contents(of: directory).items.map { item in
                let info = try FileInfo(of: item.path.below(sandbox.path(directory)))
                return "\(item.path) \(String(info.mode, radix: 8)) \(info.owner) \(info.group)"
            }
        }
        let before = try owners("Parent")
        let root = { (arguments: [String]) in
            try Tool.run(Tool.product("grocerydude"), arguments, environment: self.environment)
        }
        #expect(try root(["backup"]).status == 0)
        #expect(try root(["items", "remove", "Apples"]).status == 0)
        let restore = try root(["restore", "latest", "--yes"])
        #expect(restore.status == 0, "\(restore.errors)")
        #expect(try owners("Parent") == before)
        // The owner of the remote folder reads what root wrote there as 0600 only if it is given.
        for name in try Directory.open(sandbox.path("Remote")).names()
        where !name.description.hasPrefix(".") {
            try File.open(RelativePath(name: name).below(sandbox.path("Remote")))
                .setOwner(OrdinaryUser.number, group: OrdinaryUser.number)
        }
        let target = try run("restore", "latest", "--target", sandbox.path("Home/look").string)
        #expect(target.status == 0, "\(target.errors)")
        let said = target.errors.split(separator: "\n").filter { $0.contains("other users") }
        #expect(said.count == 1, "\(target.errors)")
        #expect(said.first?.contains("4 names belong") == true, "\(target.errors)")
        #expect(try owners("Home/look").allSatisfy { $0.hasSuffix(" 65534 65534") })
    }

    @Test("A store that an application has open is refused with its process, unless it is forced")
    func inUse() throws {
        #expect(try run("backup").status == 0)
        let path = sandbox.path("Parent/Stores/Grocery-Dude.sqlite").string
        let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let application = try StoreApplication(
            "sql",
            path,
            launcher: OrdinaryUser.isRoot ? user : []
        )
        // A transaction that is over: only an open descriptor is left of it.
        try application.run("SELECT * FROM item")
        let refused = try run("restore", "latest", "--yes")
        #expect(refused.status == 24)
        #expect(
            refused.errors.contains(
                "in use by process \(application.processIdentifier) (StoreWriter sql)"
            ),
            "\(refused.errors)"
        )
        #expect(refused.errors.contains("'--force'"))
        #expect(try run("restore", "latest", "--yes", "--force").status == 0)
        application.kill()
        #expect(try run("restore", "latest", "--yes").status == 0)
    }
}

/// Locks that another user holds on directories that he may only read.
@Suite(
    "Commands beside another user's locks",
    .enabled(
        if: OrdinaryUser.isRoot && Tool.isInstalled("setpriv") && Tool.isInstalled("flock"),
        "only root can be two users"
    )
)
struct StrangersLocksCommandTests {
    @Test("The program works beside another user's locks, and names the user")
    func backup() throws {
        let program = try Program()
        try program.make(stores: "App/Stores", remote: "Remote")
        let sandbox = program.sandbox
        let places = ["--stores", "App/Stores", "--remote", "Remote"]
        var strangers: [RunningTool] = []
        for name in ["", "App", "App/Stores", "Remote"] {
            let path = sandbox.path(name).string
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755],
                ofItemAtPath: path
            )
            guard !name.isEmpty else { continue }
            let stranger = try RunningTool(
                "setpriv",
                [
                    "--reuid=65534", "--regid=65534", "--clear-groups", "flock", "--shared",
                    "--no-fork", path, "sh", "-c", "echo locked; read line",
                ]
            )
            #expect(try stranger.readLine() == "locked")
            strangers.append(stranger)
        }
        for command in [
            ["backup"], ["restore", "latest", "--yes"], ["prune", "--keep-last", "1"],
        ] {
            let outcome = try program.expect(command + places)
            #expect(outcome.errors.contains("of a user who may not change it"), "\(command)")
        }
        for stranger in strangers { stranger.kill() }
        #expect(try !program.expect(["backup"] + places).errors.contains("locked by"))
    }
}
