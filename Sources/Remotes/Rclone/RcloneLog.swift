internal import Files
internal import Foundation
internal import Processes

/// rclone's log in the format of `--use-json-log` (https://rclone.org/docs/#use-json-log).
struct RcloneLog {
    /// rclone's statistics since it started.
    struct Counts: Decodable, Equatable {
        var bytes: Int64 = 0
        var transfers = 0
        var checks = 0
        var renames = 0
        var deletes = 0
        var lastError: String?
        /// The hash that rclone compared on both sides of a transfer, if both know one.
        var hash: RemoteHash?

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            // Some versions omit zeros.
            bytes = try container.decodeIfPresent(Int64.self, forKey: .bytes) ?? 0
            transfers = try container.decodeIfPresent(Int.self, forKey: .transfers) ?? 0
            checks = try container.decodeIfPresent(Int.self, forKey: .checks) ?? 0
            renames = try container.decodeIfPresent(Int.self, forKey: .renames) ?? 0
            deletes = try container.decodeIfPresent(Int.self, forKey: .deletes) ?? 0
            lastError = try container.decodeIfPresent(String.self, forKey: .lastError)
        }

        private enum CodingKeys: String, CodingKey {
            case bytes, transfers, checks, renames, deletes, lastError
        }
    }

    private struct Line: Decodable {
        var level: String?
        var msg: String?
        var stats: Counts?
    }

    /// The mask for secrets in messages.
    var mask = RcloneMask("")
    private var reader = LineReader(limit: 1 << 20)
    private(set) var counts = Counts()
    /// The last connection error after which rclone retried.
    private(set) var connectionError: String?
    /// The error by which the remote rejected the name, password or key.
    private(set) var refusal: String?
    /// The number of answered requests in the log.
    private var answers = 0
    private var errors: [String] = []
    /// The last line that was no JSON: the error with which rclone ended.
    private var lastText: String?

    private static let quiet: Set = ["debug", "info", "notice", "warning"]

    /// Processes rclone's output.
    ///
    /// - Returns: whether rclone has made progress since the last call.
    mutating func receive(_ bytes: [UInt8]) -> Bool {
        let before = (counts, answers)
        for line in reader.lines(bytes) { take(line) }
        var (old, new) = (before.0, counts)
        (old.lastError, new.lastError) = (nil, nil)
        (old.hash, new.hash) = (nil, nil)
        return old != new || before.1 != answers
    }

    mutating func finish() {
        if let line = reader.finish() { take(line) }
    }

    /// Forgets a connection error, since there is a connection again.
    mutating func forgetConnectionError() { connectionError = nil }

    private mutating func take(_ bytes: [UInt8]) {
        guard bytes.first == UInt8(ascii: "{"),
            let line = try? JSONDecoder().decode(Line.self, from: Data(bytes))
        else {
            let text = Self.plain(String(decoding: bytes, as: UTF8.self))
            if !text.isEmpty { lastText = text }
            return
        }
        if let stats = line.stats {
            let hash = counts.hash
            counts = stats
            counts.hash = hash
        } else if let message = line.msg, let level = line.level {
            if !Self.quiet.contains(level) { errors.append(message) }
            if level == "debug" { take(debug: message) }
        }
    }

    private mutating func take(debug message: String) {
        if message.hasPrefix("HTTP/") {
            answers += 1
        } else if let hash = RemoteHash(compared: message) {
            counts.hash = hash
        } else if let reason = Self.triedAgain(message).map({ mask($0) }) {
            if reason.contains("dial ") { connectionError = reason }
            if RemoteError.isUnauthorized(reason) { refusal = reason }
        }
    }

    /// The reason for a failure, in rclone's words.
    var reason: String {
        let text = lastText ?? ""
        if text.contains("file system for") { return mask(text) }
        let reason = counts.lastError ?? errors.last ?? text
        return reason.isEmpty ? "it said nothing" : mask(Self.plain(reason))
    }

    /// Returns a line without its date.
    private static func plain(_ text: String) -> String {
        text.replacing(#/^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d /#, with: "")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the error in "low level retry 1/10 (error …)", or that of a request ("Error: …").
    private static func triedAgain(_ message: String) -> String? {
        if message.hasPrefix("Error: ") { return String(message.dropFirst(7)) }
        guard message.contains("low level retry") else { return nil }
        return message.firstMatch(of: #/\(error (.*)\)/#).map { String($0.1) }
    }
}
