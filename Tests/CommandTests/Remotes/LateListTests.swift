import Foundation
import SystemPackage
import TestSupport
import Testing

/// Folders of clouds that list a new file late.
@Suite(
    "A cloud that lists late",
    .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
)
struct LateListTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        let script = """
            #!/bin/sh
            PATH="${PATH#*:}"
            case " $* " in
            *" lsjson "*) rclone "$@" > "$HOME/list.$$" ;;
            *) exec rclone "$@" ;;
            esac
            status=$?
            sed -f "$HOME/late.sed" "$HOME/list.$$"
            exit $status

            """
        let rclone = try program.sandbox.write(script, to: "bin/rclone")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: rclone.string
        )
        try hide(nil)
        try configure(isElsewhere: true)
        for _ in 0..<2 { try expect("backup", "--quiet") }
    }

    private func configure(isElsewhere: Bool) throws {
        let remote = program.sandbox.path("Remote")
        try program.configure(
            "stores: ~/Stores\nremote: '\(isElsewhere ? "rclone::local:" : "")\(remote)'\n"
        )
    }

    /// Has no list show a file; `nil` for none.
    private func hide(_ name: String?) throws {
        // An entry without a name is passed over.
        let commands = name.map { name in
            let pattern = name.map { "[].".contains($0) ? "\\\($0)" : "\($0)" }.joined()
            return "s/\"Name\":\"\(pattern)\"/\"Name\":\"\"/\n"
        }
        try program.sandbox.write(commands ?? "", to: "late.sed")
    }

    @discardableResult
    private func expect(_ arguments: String..., status: Int32 = 0) throws -> Tool.Outcome {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let outcome = try program.run(
            arguments,
            environment: ["PATH": "\(program.sandbox.path("bin")):\(path)"]
        )
        #expect(outcome.status == status, "\(arguments): \(outcome.text) \(outcome.errors)")
        return outcome
    }

    private func rows() throws -> [[String: Any]] {
        try expect("list", "--json").json as? [[String: Any]] ?? []
    }

    private func names() throws -> [String] { try rows().compactMap { $0["name"] as? String } }

    @Test("does not make an older backup the latest one")
    func latest() throws {
        let names = try names()
        try hide(names[0])
        #expect(try self.names() == names)
        try expect("pin", "latest")
        #expect(try rows().map { $0["pinned"] as? Bool } == [true, false])
        try expect("pin", "latest", "--off")
        try expect("delete", "latest", "--yes")
        try hide(nil)
        #expect(try self.names() == [names[1]])
    }

    @Test("hides no loss of the newest backup", arguments: [true, false])
    func lost(isElsewhere: Bool) throws {
        try configure(isElsewhere: isElsewhere)
        let names = try names()
        let file = program.sandbox.path("Remote").appending(names[0]).string
        try FileManager.default.removeItem(atPath: file)
        let commands = [
            ["list"], ["status"], ["restore", "latest", "--dry-run"], ["pin", "latest"],
        ]
        for command in commands {
            let outcome = try program.run(command)
            #expect(
                (outcome.text + outcome.errors).contains("gone"),
                "\(command): \(outcome.text) \(outcome.errors)"
            )
        }
    }
}
