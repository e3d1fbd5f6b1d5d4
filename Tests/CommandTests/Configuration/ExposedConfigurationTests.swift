import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Settings that somebody else could change.
@Suite("A configuration that other users may change")
struct ExposedConfigurationTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
    }

    private func mode(_ mode: Int, _ relative: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: sandbox.path(relative).string
        )
    }

    private func give(_ relative: String) throws {
        try Tool.check("chown", ["65534", sandbox.path(relative).string])
    }

    private func expectRefusal(
        _ text: String,
        hint: String = "",
        _ arguments: [String] = ["list"]
    ) throws {
        let outcome = try program.run(arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome.errors)")
        #expect(outcome.errors.contains("is refused: "), "\(outcome.errors)")
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
        #expect(hint.isEmpty || outcome.errors.contains(hint), "\(outcome.errors)")
    }

    @Test(
        "Each command that reads an exposed configuration refuses it and says what to do"
    )
    func everybody() throws {
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        let path = sandbox.path(Program.configuration)
        try mode(0o606, Program.configuration)
        for arguments in [
            ["list"], ["backup"], ["config", "validate"], ["config", "show"],
            ["link", sandbox.path("Remote").string, "--replace"], ["schedule", "show"],
        ] {
            try expectRefusal(
                "the configuration '\(path)' is refused: everybody may change '\(path)'",
                hint: "hint: remove that permission: chmod go-w \(path)",
                arguments
            )
        }
        try mode(0o600, Program.configuration)
        #expect(try program.run("list").status == 0)
        try mode(0o777, ".config")
        try expectRefusal("everybody may change '\(sandbox.path(".config"))'")
    }

    @Test(
        "Root refuses a configuration that another user or a group may change",
        .enabled(if: geteuid() == 0)
    )
    func root() throws {
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        let path = sandbox.path(Program.configuration)
        try mode(0o660, Program.configuration)
        try expectRefusal("the group of '\(path)' may change it", hint: "chmod go-w \(path)")
        try mode(0o600, Program.configuration)
        try give(Program.configuration)
        try expectRefusal("'\(path)' belongs to user 65534", hint: "chown root \(path)")
        try Tool.check("chown", ["0", path.string])
        try give(".config")
        try expectRefusal(
            "'\(sandbox.path(".config"))' belongs to user 65534",
            hint: "keep the file where only root may write"
        )
    }

    @Test(
        "A configuration is refused if others may change its commands or its files",
        .enabled(if: geteuid() == 0)
    )
    func named() throws {
        try sandbox.write("#!/bin/sh\necho secret\n", to: "script")
        try mode(0o755, "script")
        let script = sandbox.path("script")
        let key = try sandbox.write("x", to: "key")
        for (line, what) in [
            ("hooks: {backup: {before: \(script) now}}", "the command of 'hooks.backup.before'"),
            ("hooks: {restore: {start: [date, '. \(script)']}}", "'hooks.restore.start'"),
            ("hooks: {sync: {did_import: sh \(script)}}", "'hooks.sync.did_import'"),
            ("password_command: \(script)", "the command of 'password_command'"),
            ("password_file: \(key)", "the file of 'password_file'"),
            ("recipients: \(key)", "the file of 'recipients'"),
            ("identities: [\(key)]", "the file of 'identities'"),
            ("sync: {map: \(key)}", "the file of 'sync.map'"),
        ] {
            try program.configure("stores: ~/Stores\nremote: ~/Remote\nprofiles: {p: {\(line)}}\n")
            #expect(try program.run("list").status == 0, "\(line)")
            try give("script")
            try give("key")
            try expectRefusal(what, hint: "belongs to user 65534")
            try expectRefusal(what, ["config", "validate"])
            try Tool.check("chown", ["0", script.string, key.string])
        }
        try give("script")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try expectRefusal(
            "the command of 'password_command'",
            ["list", "--password-command", "\(script)"]
        )
        try sandbox.write("", to: ".config/rclone/rclone.conf")
        try give(".config/rclone")
        #expect(try program.run("list").status == 0)
        try expectRefusal("rclone's configuration", ["list", "--remote", "rclone:nas:x"])
    }

    @Test("A piece that others may change is refused, and so is a directory to which they may add")
    func pieces() throws {
        let directory = ".config/grocerydude/config.d"
        try sandbox.write("stores: ~/Stores\nremote: ~/Remote\n", to: "\(directory)/a.yaml")
        #expect(try program.run("list").status == 0)
        let path = sandbox.path("\(directory)/a.yaml")
        try mode(0o602, "\(directory)/a.yaml")
        try expectRefusal(
            "the configuration '\(path)' is refused: everybody may change '\(path)'",
            hint: "hint: remove that permission: chmod go-w \(path)"
        )
        try mode(0o600, "\(directory)/a.yaml")
        for mode in [0o777, 0o1777] {
            try self.mode(mode, directory)
            try expectRefusal("everybody may change '\(sandbox.path(directory))'")
        }
        try mode(0o700, directory)
        #expect(try program.run("list").status == 0)
        guard geteuid() == 0 else { return }
        for name in ["\(directory)/a.yaml", directory] {
            try give(name)
            try expectRefusal("'\(sandbox.path(name))' belongs to user 65534")
            try Tool.check("chown", ["0", sandbox.path(name).string])
        }
        try mode(0o660, "\(directory)/a.yaml")
        try expectRefusal("the group of '\(path)' may change it")
    }

    @Test("A password in a file that others may read gives a warning")
    func readable() throws {
        let path = try sandbox.write("secret\n", to: "password")
        try program.configure(
            "stores: ~/Stores\nremote: ~/Remote\nrecipients: password\npassword_file: \(path)\n"
        )
        #expect(try !program.run("backup").errors.contains("warning"))
        try mode(0o644, "password")
        let backup = try program.run("backup")
        #expect(backup.status == 0)
        #expect(
            backup.errors.contains(
                "warning: the password in '\(path)' can be read by others: chmod 600 \(path)"
            )
        )
    }
}
