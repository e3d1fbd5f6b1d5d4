internal import Foundation
internal import Processes

// Beside the files: the place that the folder is in.
extension RcloneFolder {
    /// The name of the remote in rclone's configuration; `nil` for one that is described on the spot.
    public var remoteName: String? {
        let name = root.prefix { $0 != ":" && $0 != "," }
        return name.isEmpty || !root.contains(":") ? nil : String(name)
    }

    /// Makes the folder, with those above it, if it is not there.
    ///
    /// - Throws: `RemoteError`.
    public func make() async throws {
        _ = try await text(["mkdir", place])
    }

    /// Returns the space there; `nil` if the remote does not tell.
    ///
    /// - Throws: `CancellationError`.
    public func space() async throws -> RemoteSpace? {
        try await answer(RemoteSpace.self, ["about", "--json", place])
    }

    /// Returns whose it is: the name or the address of the account, or the user of the server.
    ///
    /// - Returns: `nil` if the remote does not tell.
    /// - Throws: `CancellationError`.
    public func account() async throws -> String? {
        guard let remoteName else { return nil }
        let asked = ["config", "userinfo", "--json", "\(remoteName):"]
        if let info = try await answer([String: String].self, asked) {
            let facts = Dictionary(info.map { ($0.lowercased(), $1) }) { first, _ in first }
            for key in ["email", "username", "user", "name", "displayname", "login", "userid"] {
                if let value = facts[key], !value.isEmpty { return value }
            }
        }
        let remotes = try await answer([String: [String: String]].self, ["config", "dump"])
        return remotes?[remoteName]?["user"]
    }

    /// Returns rclone's version.
    ///
    /// - Throws: `RemoteError.noRclone`, `.rclone`.
    public func version() async throws -> String {
        let output = try await text(["version"])
        let line = output.split(separator: "\n").first ?? ""
        return String(line.trimmingPrefix("rclone "))
    }

    /// Whether an error says that rclone's configuration has no such remote.
    public static func isNotConfigured(_ error: any Error) -> Bool {
        if case RemoteError.noRemote = error { true } else { false }
    }

    /// Runs rclone, and returns what it writes.
    func text(_ arguments: [String]) async throws -> String {
        String(decoding: try await run(arguments).output, as: UTF8.self)
    }

    private func answer<Answer: Decodable>(
        _ type: Answer.Type,
        _ arguments: [String]
    ) async throws -> Answer? {
        do {
            let output = try await text(arguments)
            return try JSONDecoder().decode(type, from: Data(output.utf8))
        } catch is RemoteError {
            return nil
        } catch is DecodingError {
            return nil
        }
    }
}
