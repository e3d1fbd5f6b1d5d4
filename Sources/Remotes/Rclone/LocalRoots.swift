internal import Foundation
internal import SystemPackage

/// The directories of this machine that an address of rclone leads to, such as one of a `local` or `alias` remote.
struct LocalRoots {
    /// The types of remotes that keep their files in other remotes (https://rclone.org/overview/).
    private static let wrappers: Set = [
        "cache", "chunker", "combine", "compress", "crypt", "hasher", "union",
    ]
    /// The maximum number of remotes that lead to each other.
    private static let mostSteps = 8

    let folder: RcloneFolder

    /// Returns the remotes of rclone's configuration, which one run reads once; none if rclone cannot read it, as its
    /// next run reports.
    func remotes() async throws -> [String: [String: String]] {
        if let known = folder.memory.remotes { return known }
        let remotes = try await folder.answer(
            [String: [String: String]].self,
            ["config", "dump"],
            on: []
        )
        if let remotes { folder.memory.take(remotes: remotes) }
        return remotes ?? [:]
    }

    /// Finds the directories of an address; none if it leads elsewhere.
    ///
    /// - Throws: `CancellationError`.
    func find(_ place: String, steps: Int = mostSteps) async throws -> [FilePath] {
        guard steps > 0, let (name, path) = Self.split(place) else { return [FilePath(place)] }
        let type = try await type(of: name)
        guard let type, Self.wrappers.contains(type) else {
            guard type == nil || type == "local" || type == "alias" else { return [] }
            return try await directory(place).map { [$0] } ?? []
        }
        let settings = try await remotes()[name] ?? [:]
        var found: [FilePath] = []
        for inner in [settings["remote"]].compactMap(\.self) + upstreams(of: settings) {
            // Other wrappers than these have their own names for files.
            let keepsNames = ["chunker", "compress", "hasher", "union"].contains(type)
            let inner = keepsNames && !path.isEmpty ? RcloneFolder.appending(inner, path) : inner
            found += try await find(inner, steps: steps - 1)
        }
        return found
    }

    /// Returns the type of a remote; `nil` if it is not known without rclone.
    private func type(of name: String) async throws -> String? {
        if name.hasPrefix(":") { return String(name.dropFirst()) }
        // The environment wins over the configuration (https://rclone.org/docs/#environment-variables).
        let variable = "RCLONE_CONFIG_\(name.uppercased())_TYPE"
        let given =
            folder.rclone.environment[variable] ?? ProcessInfo.processInfo.environment[variable]
        if let given { return given }
        return try await remotes()[name]?["type"]
    }

    /// Returns the name and the path of a remote; `nil` for a path of this machine.
    private static func split(_ place: String) -> (name: String, path: String)? {
        let match = place.firstMatch(of: /^(:?[^:,\/]+)(?:,(?:"[^"]*"|'[^']*'|[^:"'])*)?:(.*)$/)
        return match.map { (String($0.1), String($0.2)) }
    }

    /// Returns the remotes of a `union` or `combine` remote, without the options and the directory of each.
    private func upstreams(of settings: [String: String]) -> [String] {
        let words = (settings["upstreams"] ?? "").matches(of: /"([^"]*)"|(\S+)/)
        return words.map { word in
            let text = String(word.1 ?? word.2 ?? "")
            guard settings["type"] == "combine" else {
                return text.replacing(/:(ro|nc|writeback)$/, with: "")
            }
            return text.replacing(/^[^=]*=/, with: "")
        }
    }

    /// Returns the directory of an address as rclone finds it; `nil` if it is on no disk of this machine.
    private func directory(_ place: String) async throws -> FilePath? {
        struct Answer: Decodable {
            struct Features: Decodable { var IsLocal: Bool }
            var Root: String
            var Features: Features
        }
        let answer = try await folder.answer(Answer.self, ["backend", "features"], on: [place])
        return answer.flatMap { $0.Features.IsLocal ? FilePath($0.Root) : nil }
    }
}
