import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Whether the built program can mount on this machine.
private enum Mounting {
    static let isPossible: Bool = {
        // A container may have the library and the device, and no right to mount.
        guard FileManager.default.fileExists(atPath: "/dev/fuse"),
            Tool.isInstalled("fusermount3"), let mounted = try? MountedProgram()
        else { return false }
        return (try? mounted.end()) == 0
    }()
}

/// The program while it shows backups in the directory 'Shown' of its home.
private final class MountedProgram {
    let program: Program
    private let tool: RunningTool
    /// What it said when it had mounted.
    let line: String?

    var sandbox: Sandbox { program.sandbox }

    /// Makes a home with a store, a file and backups, and mounts these.
    convenience init() throws {
        let program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try program.sandbox.directory("Shown")
        try self.init(program)
    }

    init(_ program: Program, _ arguments: [String] = []) throws {
        self.program = program
        tool = try RunningTool(
            Program.path,
            ["mount", "Shown", "--json"] + arguments,
            environment: program.environment,
            directory: program.sandbox.path
        )
        line = try tool.readLine()
        guard line != nil else {
            throw Tool.Failure.failed("mount", .init(status: tool.wait(), output: [], errors: ""))
        }
    }

    deinit {
        tool.kill()
        _ = try? Tool.run("fusermount3", ["-uq", sandbox.path("Shown").string])
    }

    /// Whether it is mounted, as the kernel says.
    var isMounted: Bool {
        get throws {
            try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
                .contains(" \(sandbox.path("Shown")) ")
        }
    }

    /// The name that the newest backup has there.
    var latest: String {
        get throws {
            try FileManager.default.destinationOfSymbolicLink(
                atPath: sandbox.path("Shown/latest").string
            )
        }
    }

    /// Asks it to end, and returns its exit code.
    func end(_ number: Int32 = SIGTERM) throws -> Int32 {
        tool.signal(number)
        return tool.wait()
    }

    func wait() -> Int32 { tool.wait() }
    func kill() { tool.kill() }
}

/// 'mount' as a person and a kernel use it.
@Suite("A mounted folder of backups", .timeLimit(.minutes(3)))
struct MountCommandTests {
    private static let unable: Comment =
        "libfuse 3, fusermount3 or /dev/fuse is missing, or mounting is not allowed"
    /// Bytes that no compression changes.
    private static let noise: [UInt8] = {
        var random = Pseudorandom(seed: 20_261_125)
        return random.bytes(2_500_000)
    }()
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try sandbox.directory("Shown")
        try sandbox.write(Self.noise, to: "Stores/photos/map.jpg")
        try sandbox.link("Stores/photos/link", to: "map.jpg")
        try sandbox.directory("Stores/empty")
        try Tool.check(
            "sqlite3",
            [
                sandbox.path("Stores/notes.sqlite").string,
                "PRAGMA journal_mode = WAL; CREATE TABLE note (x); INSERT INTO note VALUES ('first')",
            ]
        )
    }

    private func backUp(_ arguments: String...) throws {
        let outcome = try program.run(["backup", "--quiet"] + arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func sqlite(_ arguments: String...) throws -> Tool.Outcome {
        try Tool.run("sqlite3", arguments)
    }

    @Test(
        "A mount shows what a restore would restore, opens stores in SQLite, and is read-only",
        .enabled(if: Mounting.isPossible, unable)
    )
    func reading() throws {
        try backUp("--incremental")
        _ = try program.run("items", "add", "Bread")
        try backUp("--incremental")
        let mounted = try MountedProgram(program)
        let schema = Fixtures.repository.appending("Documentation/Schemas/mount.json")
        #expect(
            try JSONSchema(contentsOf: schema.string).faults(in: Array((mounted.line ?? "").utf8))
                .isEmpty
        )
        let said = try JSONSerialization.jsonObject(with: Data((mounted.line ?? "").utf8))
        #expect((said as? [String: Any])?["backups"] as? Int == 2)
        #expect(try mounted.isMounted)
        let shown = sandbox.path("Shown").string
        for name in try Directory.open(sandbox.path("Shown")).names().map(\.description) {
            let target = sandbox.path("Out-\(name)").string
            let restored = try program.run("restore", name, "--target", target, "--quiet")
            #expect(restored.status == 0, "\(restored.errors)")
            try Tool.check("diff", ["-r", "\(shown)/\(name)", target])
        }
        let store = "\(shown)/latest/notes.sqlite"
        for options in [["-readonly"], []] {
            let query = try Tool.run(
                "sqlite3",
                options + [store, "SELECT x FROM note; PRAGMA integrity_check"]
            )
            #expect(query.text == "first\nok\n", "\(query.errors)")
        }
        let items = try sqlite(
            "-readonly",
            "\(shown)/latest/Grocery-Dude.sqlite",
            "PRAGMA quick_check"
        )
        #expect(items.text == "ok\n", "\(items.errors)")
        #expect(
            try sqlite(store, "INSERT INTO note VALUES (1)").errors.contains("readonly database")
        )
        #expect(
            try Tool.run("touch", ["\(shown)/latest/new"]).errors.contains("Read-only file system")
        )
        #expect(
            try Tool.run("sh", ["-c", "echo x > '\(store)'"]).errors.contains(
                "Read-only file system"
            )
        )
        #expect(try Tool.run("cat", ["\(shown)/latest/no"]).errors.contains("No such file"))
        #expect(try mounted.end() == 0)
        #expect(try mounted.isMounted == false)
        #expect(try Directory.open(sandbox.path("Shown")).names() == [])
    }

    @Test(
        "A new backup appears in the mount, and is the latest",
        .enabled(if: Mounting.isPossible, unable)
    )
    func changes() throws {
        try backUp()
        let mounted = try MountedProgram(program)
        let first = try mounted.latest
        try sandbox.write("new", to: "Stores/new.txt")
        try backUp()
        // The folder is listed again after some seconds, and the kernel asks again after one.
        while try mounted.latest == first { usleep(50_000) }
        #expect(try sandbox.read("Shown/latest/new.txt") == Array("new".utf8))
        #expect(try Directory.open(sandbox.path("Shown")).names().count == 3)
        // Whoever unmounts it ends the program.
        try Tool.check("fusermount3", ["-u", sandbox.path("Shown").string])
        #expect(mounted.wait() == 0)
    }

    @Test("A mount that is in use is unmounted as well", .enabled(if: Mounting.isPossible, unable))
    func busy() throws {
        try backUp()
        let mounted = try MountedProgram(program)
        let user = try RunningTool(
            "sh",
            [
                "-c", "cd \"$1\" && exec 3< photos/map.jpg && echo in && read line", "sh",
                sandbox.path("Shown/latest").string,
            ]
        )
        #expect(try user.readLine() == "in")
        #expect(try mounted.end() == 0)
        #expect(try mounted.isMounted == false)
        try user.closeInput()
        user.wait()
    }

    @Test(
        "A mount that a killed command left is reported, with the way to remove it",
        .enabled(if: Mounting.isPossible, unable)
    )
    func killed() throws {
        try backUp()
        let mounted = try MountedProgram(program)
        mounted.kill()
        #expect(try mounted.isMounted)
        let again = try program.run("mount", "Shown")
        let path = sandbox.path("Shown").string
        #expect(again.status == 1)
        #expect(
            again.errors.contains("a file system is mounted at '\(path)' whose program has ended")
        )
        #expect(again.errors.contains("fusermount3 -u \(path)'"))
        try Tool.check("fusermount3", ["-u", path])
        #expect(try MountedProgram(program).end(SIGINT) == 0)
    }

    @Test(
        "Damage in a mount is reported on standard error, and gives a read error",
        .enabled(if: Mounting.isPossible, unable)
    )
    func damage() throws {
        try backUp()
        let name = try #require(
            try Directory.open(sandbox.path("Remote")).names().map(\.description).first {
                $0.hasSuffix(".zip")
            }
        )
        var bytes = try sandbox.read("Remote/\(name)")
        let noise = try #require(Data(bytes).range(of: Data(Self.noise[5000..<5064])))
        bytes[noise.lowerBound] ^= 1
        try Data(bytes).write(to: URL(filePath: sandbox.path("Remote/\(name)").string))
        let script = """
            "$0" mount Shown > out 2> err & program=$!
            while ! grep -q mounted out; do kill -0 $program || exit 9; done
            cat Shown/latest/photos/map.jpg > copy && exit 8
            cat Shown/latest/notes.sqlite > notes || exit 7
            kill $program; wait $program
            """
        let outcome = try Tool.run(
            "sh",
            ["-c", script, Program.path],
            environment: program.environment,
            directory: sandbox.path
        )
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("Input/output error"))
        let told = String(decoding: try sandbox.read("err"), as: UTF8.self)
        #expect(told.contains("'photos/map.jpg' in '\(name)' is damaged in its bytes 0 to 1048575"))
        #expect(told.split(separator: "damaged in its bytes").count == 2, "\(told)")
    }

    @Test(
        "An encrypted backup stays closed without its key, which the mount reports once",
        .enabled(if: Mounting.isPossible, unable)
    )
    func sealed() throws {
        let key = sandbox.path("key.txt").string
        let recipient = try program.run("key", "generate", "--output", key).text.dropLast()
        try backUp("--recipient", String(recipient))
        let script = """
            rm -f out
            "$0" mount Shown "$@" > out 2> err & program=$!
            while ! grep -qs mounted out; do kill -0 $program || exit 9; done
            ls Shown/latest/
            ls Shown/latest/
            kill $program; wait $program
            """
        func look(_ options: String...) throws -> (outcome: Tool.Outcome, told: String) {
            let outcome = try Tool.run(
                "sh",
                ["-c", script, Program.path] + options,
                environment: program.environment,
                directory: sandbox.path
            )
            return (outcome, String(decoding: try sandbox.read("err"), as: UTF8.self))
        }
        let (shut, told) = try look()
        #expect(shut.status == 0 && shut.text.isEmpty)
        #expect(shut.errors.contains("Permission denied"))
        #expect(told.split(separator: "there is no key").count == 2, "\(told)")
        let (open, silence) = try look("--identity", key)
        #expect(open.text.contains("notes.sqlite"), "\(open.errors)")
        #expect(!silence.contains("warning"), "\(silence)")
    }

    @Test("An unsuitable directory for a mount is refused, with the reason")
    func refusals() throws {
        try backUp()
        try sandbox.write("x", to: "full/x")
        for (directory, reason) in [
            ("nothing", "there is no directory '\(sandbox.path("nothing"))'"),
            ("full", "is not empty"), ("full/x", "is not a directory"),
            ("/", "something is mounted at '/' already"),
            ("Stores/empty", "is inside '\(sandbox.path("Stores"))'"),
        ] {
            let outcome = try program.run("mount", directory)
            #expect(outcome.status == 1, "\(directory)")
            // Where nothing can be mounted at all, that is the reason.
            #expect(
                outcome.errors.contains(reason) || outcome.errors.contains("cannot mount: "),
                "\(directory): \(outcome.errors)"
            )
        }
        let empty = try sandbox.directory("Remote/empty")
        let inside = try program.run("mount", empty.string)
        #expect(inside.status == 1 && inside.output.isEmpty)
        #expect(try program.run("mount", "Shown", "--remote", "nowhere").status != 0)
        #expect(try program.run("mount").status == 64)
    }

    #if os(Linux)
    @Test("A mount without libfuse names the package that contains it")
    func noLibrary() throws {
        for name in ["libfuse3.so.3", "libfuse3.so.4"] {
            try sandbox.write("no library", to: "lib/\(name)")
        }
        let outcome = try program.run(
            "mount",
            "Shown",
            environment: ["LD_LIBRARY_PATH": sandbox.path("lib").string]
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("libfuse 3 cannot be loaded"))
        #expect(outcome.errors.contains("'fuse3'"))
        #expect(
            try program.run("list", environment: ["LD_LIBRARY_PATH": sandbox.path("lib").string])
                .status == 0
        )
    }

    @Test(
        "A mount without the kernel's device reports that",
        .enabled(if: Namespace.mayMount && Mounting.isPossible, unable)
    )
    func noDevice() throws {
        let outcome = try Tool.run(
            "unshare",
            [
                "-m", "sh", "-c", "mount -t tmpfs none /dev && exec \"$0\" mount Shown",
                Program.path,
            ],
            environment: program.environment,
            directory: sandbox.path
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("cannot open '/dev/fuse': no such file"))
        #expect(outcome.errors.contains("modprobe fuse"))
    }
    #endif
}
