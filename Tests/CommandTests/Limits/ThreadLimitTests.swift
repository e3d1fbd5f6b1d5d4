import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A user who has no other process, and so a limit on processes that counts the program's threads only.
private enum LimitedUser {
    static let number: UInt32 = 65533
    static let start = [
        "setpriv", "--reuid=\(number)", "--regid=\(number)", "--clear-groups",
    ]

    static let isPossible =
        OrdinaryUser.isRoot && OrdinaryUser.isPossible
        && Tool.isInstalled("prlimit") && Tool.isInstalled("timeout")
}

/// The built program where the system gives it few threads (RLIMIT_NPROC, which root does not have).
@Suite(
    "Commands with few threads",
    .serialized,
    .enabled(
        if: LimitedUser.isPossible,
        "only root may become another user, or there is no setpriv, prlimit or timeout"
    )
)
struct ThreadLimitTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        for name in ["", "Parent", "Parent/Stores", "Remote"] {
            try sandbox.directory(name)
            let directory = try Directory.open(sandbox.path(name))
            try directory.setOwner(LimitedUser.number, group: LimitedUser.number)
        }
        #expect(try run("init").status == 0)
        #expect(try run("backup").status == 0)
        #expect(try run("items", "remove", "Apples").status == 0)
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try run(arguments)
    }

    /// Runs the program, ends it with SIGTERM after some time, and kills it if it does not obey.
    ///
    /// - Returns: what became of it; the code is 124 where it obeyed, and 137 where it did not.
    private func run(
        _ arguments: [String],
        limit: Int? = nil,
        seconds: Int = 20
    ) throws -> Tool.Outcome {
        let command =
            ["-k", "5", "\(seconds)"] + LimitedUser.start
            + (limit.map { ["prlimit", "--nproc=\($0)"] } ?? [])
            + [Tool.product("grocerydude")] + arguments
        return try Tool.run(
            "timeout",
            command,
            environment: [
                "HOME": sandbox.path.string, "TZ": "UTC", "TMPDIR": "/tmp",
                "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": "",
                "XDG_STATE_HOME": "",
                "GROCERYDUDE_STORES": sandbox.path("Parent/Stores").string,
                "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
            ],
            directory: "/"
        )
    }

    @Test(
        "A restore, a backup and a check continue with the few threads that they get",
        arguments: 4...8
    )
    func goesOn(limit: Int) throws {
        let commands = [
            ["restore", "latest", "--yes"], ["backup"], ["check", "--all", "--restore"],
        ]
        for arguments in commands {
            let before = try sandbox.contents(of: ".")
            let outcome = try run(arguments, limit: limit)
            let what: Comment = "\(arguments): \(outcome.status), \(outcome.errors)"
            // Swift's own threads come first; where they get none, nothing has begun.
            if outcome.status == 124, limit < 8 {
                #expect(try sandbox.contents(of: ".") == before, what)
                print("skipped: with \(limit) threads, Swift's own do not start")
                return
            }
            try #require(outcome.status == 0, what)
        }
        #expect(try run("items").text.contains("Apples"))
    }

    @Test("A command with fewer threads than Swift itself needs does not begin", arguments: 1...3)
    func refuses(limit: Int) throws {
        let before = try sandbox.contents(of: ".")
        let outcome = try run(["backup"], limit: limit)
        #expect(outcome.status == 1, "\(outcome.status), \(outcome.errors)")
        #expect(outcome.errors.contains("too few threads") && outcome.errors.contains("ulimit -u"))
        #expect(try sandbox.contents(of: ".") == before)
        // Nothing of it needs a thread.
        #expect(try run(["--version"], limit: limit).status == 0)
    }
}
