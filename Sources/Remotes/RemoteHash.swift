/// A hash of a whole file, as a remote tells it without sending the file.
public struct RemoteHash: Codable, Hashable, Sendable, CustomStringConvertible {
    /// rclone's name of the function: `md5`, `sha1`, `quickxor`, … (https://rclone.org/overview/#hash).
    public var kind: String
    /// Lower-case hexadecimal digits.
    public var value: String

    public init(kind: String, value: String) {
        self.kind = kind
        self.value = value
    }

    public var description: String { "\(kind) \(value)" }

    /// Reads the line of rclone's log that says that both ends of a transfer are the same: `md5 = 0cc1… OK`.
    init?(compared line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[1] == "=", words[3] == "OK", words[2].count >= 8,
            words[2].allSatisfy(\.isHexDigit)
        else { return nil }
        self.init(kind: String(words[0]), value: words[2].lowercased())
    }
}

/// A remote folder that may know hashes of its files.
public protocol HashingFolder: RemoteFolder {
    /// Returns files with the hashes that they have now, as the remote tells or computes them.
    ///
    /// - Parameters:
    ///   - names: the files to look at.
    ///   - kind: the function; `nil` for the sizes alone.
    /// - Returns: those of the files that are there, each with its hash if the remote knows it.
    /// - Throws: `RemoteError`.
    func files(_ names: [String], hashedBy kind: String?) async throws -> [RemoteFile]
}
