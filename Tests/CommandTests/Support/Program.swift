import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The built program in a home directory of its own, with nothing said in the environment.
struct Program {
    let sandbox: Sandbox

    static let path = Tool.product("grocerydude")

    init() throws {
        sandbox = try Sandbox()
    }

    /// Where the configuration is that nobody names.
    static let configuration = ".config/grocerydude/config.yaml"

    /// What it is given of the world: nothing of the person who runs the tests.
    var environment: [String: String] {
        let unset = [
            "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
            "GROCERYDUDE_STORES", "GROCERYDUDE_REMOTE", "GROCERYDUDE_CONFIG",
            "GROCERYDUDE_PROFILE", "GROCERYDUDE_IDENTITY", "GROCERYDUDE_RECIPIENTS",
            "GROCERYDUDE_PASSWORD", "GROCERYDUDE_PASSWORD_FILE", "GROCERYDUDE_PASSWORD_COMMAND",
        ]
        var surroundings = Dictionary(uniqueKeysWithValues: unset.map { ($0, "") })
        surroundings["HOME"] = sandbox.path.string
        surroundings["TZ"] = "UTC"
        return surroundings
    }

    /// Runs it in the sandbox's directory.
    func run(
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        try Tool.run(
            Self.path,
            arguments,
            environment: self.environment.merging(environment) { $1 },
            directory: sandbox.path
        )
    }

    func run(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        try run(arguments, environment: environment)
    }

    /// Runs it, and expects an exit code.
    @discardableResult
    func expect(
        _ arguments: [String],
        status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Tool.Outcome {
        let outcome = try run(arguments)
        #expect(
            outcome.status == status,
            "\(arguments): \(outcome.text) \(outcome.errors)",
            sourceLocation: sourceLocation
        )
        return outcome
    }

    /// Runs it, and expects an exit code.
    @discardableResult
    func expect(
        _ arguments: String...,
        status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Tool.Outcome {
        try expect(arguments, status: status, sourceLocation: sourceLocation)
    }

    /// Returns the values in force, and the places that define them, by the keys of settings.
    func settings(
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> [String: (value: String, at: String)] {
        let outcome = try run(
            ["config", "show", "--all", "--json"] + arguments,
            environment: environment
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let answer = try #require(outcome.json as? [String: Any])
        let rows = try #require(answer["settings"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: rows.map { row in
                let origin = (row["origin"] as? [String: Any])?["text"] as? String ?? ""
                return (row["key"] as? String ?? "", ("\(row["value"] ?? "")", origin))
            }
        )
    }

    /// Writes the configuration.
    func configure(_ text: String) throws {
        try sandbox.write(text, to: Self.configuration)
    }

    /// Makes a stores directory with a store in it, and an empty remote folder.
    func make(stores: String, remote: String) throws {
        try sandbox.directory(remote)
        _ = try Tool.check(
            Self.path,
            ["init", "--stores", sandbox.path(stores).string, "--config", try empty()]
        )
    }

    /// A configuration that says nothing that matters.
    private func empty() throws -> String {
        try sandbox.write("lock_wait: 0s\n", to: "none.yaml").string
    }
}

extension Tool.Outcome {
    /// Standard output as JSON.
    var json: Any {
        get throws { try JSONSerialization.jsonObject(with: Data(output)) }
    }

    /// Standard output as JSON, an object a line.
    var jsonLines: [[String: Any]] {
        get throws {
            try text.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
            }
        }
    }
}
