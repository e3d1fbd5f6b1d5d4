import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Kills the built program at its system calls that change the disk, one after the other, and sees
/// what the next command makes of it.
///
/// `make faults` tries every one of them; otherwise a few of them are tried.
@Suite(
    "Killed at a system call",
    .enabled(if: Tool.isInstalled("strace"), "strace is not installed"),
    .serialized
)
struct CrashTests {
    private static let calls =
        "write,pwrite64,ftruncate,fsync,syncfs,rename,renameat2,link,linkat,unlink,unlinkat,rmdir,"
        + "mkdir,mkdirat,symlinkat,fchmod,fchown,utimensat,openat"
    private static let step =
        ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS"] == "all" ? 1 : 47

    /// A directory with a store of twelve items, and a backup of it; then one item is removed.
    private struct Template {
        let sandbox: Sandbox

        init() throws {
            sandbox = try Sandbox()
            try sandbox.directory("Work/Remote")
            try sandbox.write(
                Pseudorandom.bytes(seed: 5, count: 1_500_000),
                to: "Work/Stores/large"
            )
            try sandbox.link("Work/Stores/link", to: "large")
            #expect(try run("init").status == 0)
            #expect(try run("backup").status == 0)
            #expect(try run("items", "remove", "Apples").status == 0)
        }

        func run(_ arguments: String..., in work: String = "Work") throws -> Tool.Outcome {
            try Tool.run(
                Tool.product("grocerydude"),
                arguments,
                environment: environment(work),
                timeout: .seconds(60)
            )
        }

        func environment(_ work: String) -> [String: String] {
            [
                "HOME": sandbox.path.string, "TZ": "UTC",
                "GROCERYDUDE_STORES": sandbox.path("\(work)/Stores").string,
                "GROCERYDUDE_REMOTE": sandbox.path("\(work)/Remote").string,
            ]
        }

        /// Runs a command on a fresh copy, to be killed after a number of calls of one thread.
        ///
        /// - Returns: whether it was killed; it was not if it makes fewer calls.
        func kill(_ arguments: [String], atCall number: Int) throws -> Bool {
            try? LocalFileSystem().remove(sandbox.path("Copy"))
            try Tool.check("cp", ["-a", sandbox.path("Work").string, sandbox.path("Copy").string])
            let outcome = try Tool.run(
                "strace",
                [
                    "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(CrashTests.calls)",
                    "-e", "inject=\(CrashTests.calls):signal=SIGKILL:when=\(number)",
                    Tool.product("grocerydude"),
                ] + arguments,
                environment: environment("Copy"),
                timeout: .seconds(60)
            )
            return outcome.status == 128 + SIGKILL
        }
    }

    /// Kills a command everywhere, and checks what is there after one more command.
    private func killEverywhere(_ arguments: String..., items allowed: Set<Int>) throws {
        let template = try Template()
        var points = 0
        for number in stride(from: 1, to: .max, by: Self.step) {
            guard try template.kill(arguments, atCall: number) else { break }
            points += 1
            let what = "\(arguments) killed at call \(number)"
            // What a person sees right after the crash are whole backups.
            let listed = try template.run("list", "--json", in: "Copy")
            #expect(listed.status == 0, "\(what): \(listed.errors)")
            let next = try template.run("backup", in: "Copy")
            #expect(next.status == 0, "\(what): \(next.errors)")
            let items = String(
                decoding: try template.run("items", in: "Copy").output,
                as: UTF8.self
            )
            #expect(allowed.contains(items.split(separator: "\n").count), "\(what)")
            let folder = template.sandbox.path("Copy")
            #expect(
                try Directory.open(folder).names().map(\.description) == ["Remote", "Stores"],
                "\(what)"
            )
            let archives = try Directory.open(folder.appending("Remote")).names().map(\.description)
            #expect(archives.allSatisfy { $0.hasSuffix("Stores.zip") }, "\(what): \(archives)")
            for archive in archives.sorted().prefix(Self.step == 1 ? .max : 1) {
                let verified = try template.run("restore", archive, "--dry-run", in: "Copy")
                #expect(verified.status == 0, "\(what): \(verified.errors)")
            }
        }
        print("\(arguments[0]) was killed at \(points) system calls")
        #expect(points > 0)
    }

    @Test("a backup leaves whole archives only")
    func backup() throws {
        try killEverywhere("backup", items: [11])
    }

    @Test("a restore leaves the old stores or the new ones, whole")
    func restore() throws {
        try killEverywhere("restore", "latest", "--yes", items: [11, 12])
    }

    @Test("a restore without a safety backup leaves the old stores or the new ones, whole")
    func restoreAlone() throws {
        try killEverywhere("restore", "latest", "--yes", "--no-safety-backup", items: [11, 12])
    }

    @Test("a deletion leaves whole archives only")
    func delete() throws {
        try killEverywhere("delete", "latest", "--yes", items: [11])
    }
}

extension Pseudorandom {
    /// Bytes that do not compress, the same ones for one seed.
    static func bytes(seed: UInt64, count: Int) -> [UInt8] {
        var generator = Pseudorandom(seed: seed)
        return generator.bytes(count)
    }
}
