import Files
import Foundation
import SystemPackage
import TestSupport

/// The built program on a machine of its own, with a remote folder on a real server.
struct ServedProgram: Sendable {
    let program: Program
    let server: RemoteServer
    let address: String
    private let environment: [String: String]

    static let folder = "Äpps [1]/Grocery Dude"

    /// Makes the machine, and the folder unless that is not to be.
    init(
        on server: RemoteServer,
        password: String = RemoteServer.password,
        isMade: Bool = true,
        settings: [String: String] = [:]
    ) throws {
        program = try Program()
        self.server = server
        address = server.remote(Self.folder)
        let calls = program.sandbox.path("calls")
        let rclone = try program.sandbox.write(
            """
            #!/bin/sh
            echo "$*" >> '\(calls)'
            echo $$ > '\(calls).last'
            case "$*" in
            *lsjson*)
                # A list that lags: what was there when it began to.
                if test -e '\(calls).lag'; then cat '\(calls).old'; exit; fi
                '\(try Self.rclone())' "$@" > '\(calls).new' || exit
                case "$*" in *--recursive*) cp '\(calls).new' '\(calls).old'; esac
                cat '\(calls).new'
                ;;
            *) exec '\(try Self.rclone())' "$@" ;;
            esac

            """,
            to: "bin/rclone"
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700],
            ofItemAtPath: rclone.string
        )
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        environment = program.environment
            .merging(server.client(password: password)) { $1 }
            .merging(settings) { $1 }
            .merging([
                "PATH": "\(program.sandbox.path("bin")):\(path)",
                "GROCERYDUDE_REMOTE": "rclone:\(address)",
                "GROCERYDUDE_STORES": program.sandbox.path("Stores").string,
            ]) { $1 }
        if isMade { try server.rclone("mkdir", address) }
    }

    private static func rclone() throws -> String {
        try Tool.check("sh", ["-c", "command -v rclone"])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs the program, and counts the processes of rclone's that it starts from here on.
    func run(_ arguments: String...) throws -> Tool.Outcome { try run(arguments) }

    func run(_ arguments: [String]) throws -> Tool.Outcome {
        try program.sandbox.write("", to: "calls")
        return try Tool.run(
            Program.path,
            arguments,
            environment: environment,
            directory: program.sandbox.path,
            timeout: .seconds(600)
        )
    }

    /// Starts the program.
    func start(_ arguments: String...) throws -> RunningTool { try start(arguments) }

    func start(_ arguments: [String]) throws -> RunningTool {
        try program.sandbox.write("", to: "calls")
        return try RunningTool(Program.path, arguments, environment: environment)
    }

    /// Kills the program, and rclone with it, as a loss of power does.
    func kill(_ run: RunningTool) throws {
        run.kill()
        let last = String(decoding: try program.sandbox.read("calls.last"), as: UTF8.self)
        if let rclone = Int32(last.trimmingCharacters(in: .newlines)) {
            _ = Foundation.kill(rclone, SIGKILL)
        }
    }

    /// How many processes of rclone's the last run started.
    var calls: [String] {
        get throws {
            String(decoding: try program.sandbox.read("calls"), as: UTF8.self)
                .split(separator: "\n").map(String.init)
        }
    }

    /// The file names of the backups that are listed, newest first.
    func names() throws -> [String] {
        let answer = try run("list", "--json").json as? [[String: Any]] ?? []
        return answer.compactMap { $0["name"] as? String }
    }

    /// Lets the list of the remote folder stay as the program saw it last, or not.
    func lag(_ isLagging: Bool) throws {
        let path = program.sandbox.path("calls.lag")
        if isLagging {
            try program.sandbox.write("", to: "calls.lag")
        } else {
            try LocalFileSystem().remove(path)
        }
    }

    /// What is in the folder, in the server's own words.
    func files() throws -> [String] {
        try server.rclone("lsf", "--recursive", "--files-only", address)
            .split(separator: "\n").map(String.init).sorted()
    }

    /// Makes a store, and beside it a file that no compression makes smaller.
    func makeStores(megabytes: Int = 0) throws {
        _ = try Tool.check(Program.path, ["init"], environment: environment)
        guard megabytes > 0 else { return }
        let path = program.sandbox.path("Stores/noise").string
        try Tool.check(
            "sh",
            ["-c", "head -c \(megabytes * 1_048_576) /dev/urandom > '\(path)'"]
        )
    }

    /// Waits until something is so, and fails after a while.
    static func wait(until isSo: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isSo() {
            guard ContinuousClock.now < end else { throw Tool.Failure.tookTooLong("the test") }
            usleep(10_000)
        }
    }
}
