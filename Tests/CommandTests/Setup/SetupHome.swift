import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

/// A home directory with an application's data and an empty disk, and a crontab that keeps what it is given.
struct SetupHome {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Vault", remote: "Disk")
        try install(
            """
            #!/bin/sh
            cd '\(sandbox.path)'
            case $1 in
            -l) cat table 2>/dev/null || { echo 'no crontab for you' >&2; exit 1; } ;;
            -) cat >table ;;
            esac

            """,
            as: "crontab"
        )
    }

    var sandbox: Sandbox { program.sandbox }

    /// The folder of the backups, which does not exist at first.
    var folder: String { sandbox.path("Disk/vault").string }

    static let piece = ".config/grocerydude/config.d/default.yaml"
    static let identity = ".config/grocerydude/identity.txt"

    /// The options for the stores directory, the folder and the scheduler.
    var places: [String] {
        ["--stores", sandbox.path("Vault").string, "--remote", folder, "--kind", "cron"]
    }

    var environment: [String: String] {
        ["PATH": "\(sandbox.path("bin")):/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
    }

    /// Puts a program in the place of the system's.
    func install(_ script: String, as name: String) throws {
        try sandbox.write(script, to: "bin/\(name)")
        try File.open(sandbox.path("bin/\(name)")).setMode(0o755)
    }

    @discardableResult
    func run(_ arguments: [String], status: Int32 = 0) throws -> Tool.Outcome {
        let outcome = try program.run(arguments, environment: environment)
        #expect(outcome.status == status, "\(arguments): \(outcome.text)\(outcome.errors)")
        return outcome
    }

    /// Runs 'setup' without a terminal.
    @discardableResult
    func setUp(_ arguments: [String], status: Int32 = 0) throws -> Tool.Outcome {
        try run(["setup"] + arguments, status: status)
    }

    /// Runs 'setup' on a terminal, on which somebody answers its questions.
    func talk(
        _ answers: [String],
        _ arguments: [String] = [],
        status: Int32 = 0
    ) throws -> Tool.Outcome {
        let outcome = try Terminal.run(
            [Program.path, "setup"] + arguments,
            answering: answers,
            program,
            environment: environment
        )
        #expect(outcome.status == status, "\(answers): \(outcome.text)")
        return outcome
    }

    func text(_ path: String = piece) throws -> String {
        String(decoding: try sandbox.read(path), as: UTF8.self)
    }

    /// The names of the archives in the folder.
    func archives(_ folder: String = "Disk/vault") throws -> [String] {
        try Directory.open(sandbox.path(folder)).names().map(\.description)
            .filter { !$0.hasPrefix(".") }
    }
}
