internal import Foundation
internal import Processes

/// A kind of remote that rclone supports, such as Dropbox or an SFTP server.
public struct RcloneProvider: Sendable, Equatable {
    /// rclone's name for the provider: `dropbox`.
    public let word: String

    /// Returns the provider with a name.
    ///
    /// - Parameter word: the name in the user's words.
    /// - Returns: `nil` if rclone has no such provider.
    /// - Throws: `RemoteError.noRclone`, `.rclone`.
    public static func named(_ word: String) async throws -> RcloneProvider? {
        struct Known: Decodable {
            var Name: String
            var Prefix: String?
        }
        let output = try await RcloneFolder("").text(["config", "providers"], on: [])
        guard let known = try? JSONDecoder().decode([Known].self, from: Data(output.utf8)) else {
            throw RemoteError.rclone(word, reason: "its list of providers is not what was expected")
        }
        return known.contains { $0.Name == word || $0.Prefix == word }
            ? RcloneProvider(word: word) : nil
    }

    /// Returns the names of the remotes in rclone's configuration.
    ///
    /// - Throws: `RemoteError.noRclone`, `.rclone`.
    public static func remotes() async throws -> [String] {
        let output = try await RcloneFolder("").text(["listremotes"], on: [])
        return output.split(separator: "\n").map {
            $0.hasSuffix(":") ? String($0.dropLast()) : String($0)
        }
    }

    /// Returns the type of a remote in rclone's configuration; `nil` if there is no such remote.
    ///
    /// - Throws: `RemoteError.noRclone`, `.rclone`.
    public static func type(of remote: String) async throws -> String? {
        let output = try await RcloneFolder("").text(["config", "dump"], on: [])
        let remotes = try? JSONDecoder()
            .decode([String: [String: String]].self, from: Data(output.utf8))
        return remotes?[remote]?["type"]
    }

    /// Runs rclone on the terminal, which asks for all settings and stores them under a remote's name.
    ///
    /// - Throws: `RemoteError.noRclone`; `.rclone` if no remote was created.
    public func configure(as remote: String) async throws {
        let ending: ChildProcess.Ending
        do {
            ending = try await ChildProcess(
                "rclone",
                ["config", "create", "--all", "--", remote, word],
                environment: Rclone.changes(to: [:])
            ).runOnTerminal()
        } catch ProcessError.notInstalled {
            throw RemoteError.noRclone("\(word):")
        }
        guard ending == .exited(0), try await Self.type(of: remote) != nil else {
            throw RemoteError.rclone("\(remote):", reason: "it was not configured")
        }
    }
}
