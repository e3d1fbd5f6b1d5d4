extension RcloneFolder: HashingFolder {
    /// The number of names in one command line.
    private static let batch = 500

    public func files(_ names: [String], hashedBy kind: String?) async throws -> [RemoteFile] {
        var files: [RemoteFile] = []
        for start in stride(from: 0, to: names.count, by: Self.batch) {
            let wanted = names[start..<min(start + Self.batch, names.count)]
            let options =
                ["--no-modtime", "--max-depth", "1"]
                + (kind.map { ["--hash", "--hash-type", $0] } ?? [])
                + wanted.flatMap { ["--include", "/" + Self.escaped($0)] }
            for entry in try await entries(options) {
                var file = entry.file
                if let kind, let value = entry.Hashes?[kind], !value.isEmpty {
                    file.hash = RemoteHash(kind: kind, value: value.lowercased())
                }
                files.append(file)
            }
        }
        return files
    }

    /// Returns a pattern that matches only a name (https://rclone.org/filtering/#patterns).
    static func escaped(_ name: String) -> String {
        name.reduce(into: "") { pattern, character in
            if #"\*?[]{}"#.contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
    }
}
