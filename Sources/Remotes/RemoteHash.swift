/// A hash of a whole file that a remote reports without sending the file.
public struct RemoteHash: Codable, Hashable, Sendable, CustomStringConvertible {
    /// rclone's name of the hash function: `md5`, `sha1`, `quickxor`, … (https://rclone.org/overview/#hash).
    public var kind: String
    /// The hash in lower-case hexadecimal digits.
    public var value: String

    public init(kind: String, value: String) {
        self.kind = kind
        self.value = value
    }

    public var description: String { "\(kind) \(value)" }

    /// Parses the result of `description`; returns `nil` for any other text.
    public init?(description: String) {
        let words = description.split(separator: " ").map(String.init)
        guard words.count == 2 else { return nil }
        self.init(kind: words[0], value: words[1])
    }

    /// Parses the line of rclone's log for a successful comparison of a transfer: `md5 = 0cc1… OK`.
    init?(compared line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[1] == "=", words[3] == "OK", words[2].count >= 8,
            words[2].allSatisfy(\.isHexDigit)
        else { return nil }
        self.init(kind: String(words[0]), value: words[2].lowercased())
    }
}

/// A remote folder that may have hashes of its files.
public protocol HashingFolder: RemoteFolder {
    /// Returns files with their present hashes, as the remote reports or computes them.
    ///
    /// - Parameters:
    ///   - names: the names of the files.
    ///   - kind: the hash function; `nil` for the sizes alone.
    /// - Returns: the existing files, each with its hash if the remote has one.
    /// - Throws: `RemoteError`.
    func files(_ names: [String], hashedBy kind: String?) async throws -> [RemoteFile]
}
