internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("The demo")
struct DemoTests {
    private let script = URL(fileURLWithPath: #filePath)
        .appending(path: "../../../scripts/demo.sh").standardized.path

    @Test(
        "The demo's environment contains nothing that leads to the user's own data",
        .enabled(if: Tool.isInstalled("sqlite3") && Tool.isInstalled("bash"))
    )
    func environment() throws {
        let sandbox = try Sandbox()
        // In place of the program, one that shows its surroundings and ends the demo.
        try sandbox.write("#!/bin/sh\nenv >&2\nexit 9\n", to: "bin/grocerydude")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: sandbox.path("bin/grocerydude").string
        )
        let mine = sandbox.path("mine").string
        let names = [
            "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
            "XDG_RUNTIME_DIR", "GROCERYDUDE_CONFIG", "GROCERYDUDE_STORES", "GROCERYDUDE_REMOTE",
            "GROCERYDUDE_CONTAINER", "GROCERYDUDE_STAGING", "GROCERYDUDE_PROFILE",
            "GROCERYDUDE_METRICS_FILE", "GROCERYDUDE_IDENTITY", "GROCERYDUDE_PASSWORD_COMMAND",
            "GROCERYDUDE_PING_URL", "RCLONE_CONFIG", "SQLITE_TMPDIR", "HOME",
        ]
        let outcome = try Tool.run(
            "bash",
            [script, sandbox.path("bin/grocerydude").string],
            environment: Dictionary(uniqueKeysWithValues: names.map { ($0, mine) })
        )
        #expect(outcome.status == 9, "\(outcome.errors)")
        #expect(outcome.errors.contains("HOME="))
        #expect(!outcome.errors.contains(mine), "\(outcome.errors)")
        #expect(!outcome.errors.contains("GROCERYDUDE_") && !outcome.errors.contains("XDG_"))
    }
}
