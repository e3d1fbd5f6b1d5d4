internal import Foundation

extension RcloneFolder: HashingFolder {
    /// Has rclone compare the hashes of both ends after a transfer, whatever its environment says.
    static let comparing = ["--ignore-checksum=false", "--ignore-size=false", "--size-only=false"]

    /// Names that go into one command line.
    private static let batch = 500

    public func files(_ names: [String], hashedBy kind: String?) async throws -> [RemoteFile] {
        struct Listed: Decodable {
            var Name: String
            var Size: Int64
            var Hashes: [String: String]?
        }
        var files: [RemoteFile] = []
        for start in stride(from: 0, to: names.count, by: Self.batch) {
            let wanted = names[start..<min(start + Self.batch, names.count)]
            let arguments =
                ["lsjson", "--files-only", "--no-modtime", "--no-mimetype", "--max-depth", "1"]
                + (kind.map { ["--hash", "--hash-type", $0] } ?? [])
                + wanted.flatMap { ["--include", "/" + Self.escaped($0)] } + [place]
            do {
                let output = try await run(arguments).output
                for listed in try JSONDecoder().decode([Listed].self, from: Data(output)) {
                    var file = RemoteFile(name: listed.Name, size: listed.Size)
                    if let kind, let value = listed.Hashes?[kind], !value.isEmpty {
                        file.hash = RemoteHash(kind: kind, value: value.lowercased())
                    }
                    files.append(file)
                }
            } catch is DecodingError {
                throw RemoteError.rclone(address, reason: "its list is not what was expected")
            }
        }
        return files
    }

    /// Returns a name as a pattern that fits nothing else (https://rclone.org/filtering/#patterns).
    static func escaped(_ name: String) -> String {
        name.reduce(into: "") { pattern, character in
            if #"\*?[]{}"#.contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
    }
}
