internal import Foundation
internal import Processes

// The place of the folder: the remote, its space and its account.
extension RcloneFolder {
    /// The name of the remote in rclone's configuration; `nil` for one that the address itself describes.
    public var remoteName: String? {
        let name = root.prefix { $0 != ":" && $0 != "," }
        return name.isEmpty || !root.contains(":") ? nil : String(name)
    }

    /// Creates the folder and its parents if they do not exist.
    ///
    /// - Throws: `RemoteError`.
    public func make() async throws {
        _ = try await text(["mkdir"])
    }

    /// Returns the space of the remote; `nil` if the remote does not report it.
    ///
    /// - Throws: `CancellationError`.
    public func space() async throws -> RemoteSpace? {
        try await answer(RemoteSpace.self, ["about", "--json"])
    }

    /// Returns the owner: the name or the address of the account, or the user of the server.
    ///
    /// - Returns: `nil` if the remote does not report it.
    /// - Throws: `CancellationError`.
    public func account() async throws -> String? {
        guard let remoteName else { return nil }
        let asked = ["config", "userinfo", "--json"]
        if let info = try await answer([String: String].self, asked, on: ["\(remoteName):"]) {
            let facts = Dictionary(info.map { ($0.lowercased(), $1) }) { first, _ in first }
            for key in ["email", "username", "user", "name", "displayname", "login", "userid"] {
                if let value = facts[key], !value.isEmpty { return value }
            }
        }
        let remotes = try await answer([String: [String: String]].self, ["config", "dump"], on: [])
        return remotes?[remoteName]?["user"]
    }

    /// Returns rclone's version.
    ///
    /// - Throws: `RemoteError.noRclone`, `.rclone`.
    public func version() async throws -> String {
        let output = try await text(["version"], on: [])
        let line = output.split(separator: "\n").first ?? ""
        return String(line.trimmingPrefix("rclone "))
    }

    /// Returns whether an error says that rclone's configuration has no such remote.
    public static func isNotConfigured(_ error: any Error) -> Bool {
        if case RemoteError.noRemote = error { true } else { false }
    }

    /// Runs rclone, and returns its output.
    func text(_ command: [String], on operands: [String]? = nil) async throws -> String {
        String(decoding: try await run(command, on: operands).output, as: UTF8.self)
    }

    private func answer<Answer: Decodable>(
        _ type: Answer.Type,
        _ command: [String],
        on operands: [String]? = nil
    ) async throws -> Answer? {
        do {
            let output = try await text(command, on: operands)
            return try JSONDecoder().decode(type, from: Data(output.utf8))
        } catch is RemoteError {
            return nil
        } catch is DecodingError {
            return nil
        }
    }
}
