internal import Foundation
internal import Processes
public import SystemPackage

// The place of the folder: the remote, its space and its account.
extension RcloneFolder: RemoteService {
    public var remoteName: String? {
        let name = root.prefix { $0 != ":" && $0 != "," }
        return name.isEmpty || !root.contains(":") ? nil : String(name)
    }

    public func make() async throws {
        _ = try await text(["mkdir"])
    }

    public func space() async throws -> RemoteSpace? {
        try await answer(RemoteSpace.self, ["about", "--json"])
    }

    /// Returns the name or the address of the account, or the user of the server.
    public func account() async throws -> String? {
        guard let remoteName else { return nil }
        let asked = ["config", "userinfo", "--json"]
        if let info = try await answer([String: String].self, asked, on: ["\(remoteName):"]) {
            let facts = Dictionary(info.map { ($0.lowercased(), $1) }) { first, _ in first }
            for key in ["email", "username", "user", "name", "displayname", "login", "userid"] {
                if let value = facts[key], !value.isEmpty { return value }
            }
        }
        return try await LocalRoots(folder: self).remotes()[remoteName]?["user"]
    }

    public func directories() async throws -> [FilePath] {
        try await LocalRoots(folder: self).find(place)
    }

    public func version() async throws -> String {
        let output = try await text(["version"], on: [])
        let line = output.split(separator: "\n").first ?? ""
        return String(line.trimmingPrefix("rclone "))
    }

    /// Runs rclone, and returns its output.
    func text(_ command: [String], on operands: [String]? = nil) async throws -> String {
        String(decoding: try await run(command, on: operands).output, as: UTF8.self)
    }

    /// Runs rclone, and returns its output as JSON; `nil` if it fails.
    func answer<Answer: Decodable>(
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
