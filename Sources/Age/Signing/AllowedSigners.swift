internal import Files
public import Foundation
public import SystemPackage

/// A file of trusted keys in OpenSSH's format (ssh-keygen(1), "ALLOWED SIGNERS").
///
/// Certificates, and keys other than Ed25519, are skipped, since they sign no backups.
public struct AllowedSigners: Sendable {
    /// A line of the file.
    public struct Signer: Sendable, Equatable {
        public var key: SSHPublicKey
        /// The names before the key, as written: the key's owners.
        public var name: String
        /// The line's number, from 1.
        public var line: Int
        fileprivate var namespaces: [String]?
        fileprivate var validAfter: Date?
        fileprivate var validBefore: Date?

        /// Returns the reason why its key may not sign in this namespace at this time; `nil` if it may.
        public func refusal(namespace: String, at date: Date) -> String? {
            if let namespaces, !namespaces.contains(where: { fnmatch($0, namespace, 0) == 0 }) {
                return "for \(namespaces.joined(separator: ", ")) only"
            }
            if let validAfter, date < validAfter { return "not valid yet" }
            if let validBefore, validBefore <= date { return "not valid any more" }
            return nil
        }
    }

    /// The maximum size of a file in bytes.
    public static let limit = 1 << 20

    public private(set) var signers: [Signer] = []

    /// Creates an empty list.
    public init() {}

    /// Parses the lines of a file.
    ///
    /// - Parameters:
    ///   - text: the content of the file.
    ///   - path: the path for messages.
    /// - Throws: `AgeError.badSigner` with the number of an invalid line.
    public init(_ text: String, path: FilePath) throws {
        // A character of Swift's may be both CR and LF.
        for (index, line) in text.split(
            omittingEmptySubsequences: false,
            whereSeparator: \.isNewline
        )
        .enumerated() {
            let line = line.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            do {
                signers += try Signer(line, number: index + 1).map { [$0] } ?? []
            } catch let fault as SignerFault {
                throw AgeError.badSigner(path, line: index + 1, reason: fault.reason)
            }
        }
    }

    /// Returns the owner of a key, if the key may sign in this namespace at this time.
    public func signer(of key: SSHPublicKey, namespace: String, at date: Date) -> Signer? {
        signers.first { $0.key == key && $0.refusal(namespace: namespace, at: date) == nil }
    }

    /// Returns a line that trusts a key in one namespace.
    public static func line(for key: SSHPublicKey, name: String, namespace: String) -> String {
        "\(self.name(for: name)) namespaces=\"\(namespace)\" \(key.text)\n"
    }
}

extension AllowedSigners {
    /// Returns a name as a line has it: whitespace ends a name, and commas separate names.
    public static func name(for text: String) -> String {
        let name = String(
            text.map { $0.isWhitespace || "\",*?!#".contains($0) || $0 == "\0" ? "_" : $0 }
        )
        return name.isEmpty ? "_" : name
    }
}

private struct SignerFault: Error {
    let reason: String
}

extension AllowedSigners.Signer {
    /// Parses a line that is neither empty nor a comment; `nil` for a key that signs no backups.
    fileprivate init?(_ text: String, number: Int) throws {
        var words = Self.words(text)[...]
        guard let name = words.popFirst(), var word = words.popFirst() else {
            throw SignerFault(reason: "a key is missing")
        }
        var options: [String] = []
        if !Self.isKind(word) {
            options = Self.parts(word)
            guard let next = words.popFirst() else { throw SignerFault(reason: "a key is missing") }
            word = next
        }
        (self.name, line) = (name, number)
        for option in options {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            let value = parts.count == 2 ? parts[1].filter { $0 != "\"" } : ""
            switch parts.first?.lowercased() {
            case "cert-authority": return nil
            case "namespaces": namespaces = value.split(separator: ",").map(String.init)
            case "valid-after": validAfter = try Self.date(value)
            case "valid-before": validBefore = try Self.date(value)
            default: throw SignerFault(reason: "the option '\(option)' is not known")
            }
        }
        guard let encoded = words.first else { throw SignerFault(reason: "a key is missing") }
        guard word == SSHPublicKey.kind else {
            guard Self.isKind(word) else {
                throw SignerFault(reason: "'\(word)' is no kind of key")
            }
            return nil
        }
        guard let key = SSHPublicKey(line: "\(word) \(encoded)") else {
            throw SignerFault(reason: "its key is damaged")
        }
        self.key = key
    }

    /// Returns whether a word is a kind of key, and not a list of options.
    private static func isKind(_ word: String) -> Bool {
        ["ssh-", "ecdsa-", "sk-"].contains(where: word.hasPrefix)
    }

    /// Splits at spaces and tabs outside of quotes.
    private static func words(_ text: String) -> [String] {
        split(text) { $0 == " " || $0 == "\t" }
    }

    /// Splits options at commas outside of quotes.
    private static func parts(_ text: String) -> [String] { split(text) { $0 == "," } }

    private static func split(_ text: String, at isSeparator: (Character) -> Bool) -> [String] {
        var (parts, part, isQuoted) = ([String](), "", false)
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if !isQuoted, isSeparator(character) {
                if !part.isEmpty { parts.append(part) }
                part = ""
            } else {
                part.append(character)
            }
        }
        return part.isEmpty ? parts : parts + [part]
    }

    /// Parses `YYYYMMDD` or `YYYYMMDDHHMM[SS]`, with `Z` for UTC, as `ssh-keygen` does.
    private static func date(_ text: String) throws -> Date {
        let isUTC = text.hasSuffix("Z")
        let digits = isUTC ? text.dropLast() : text[...]
        guard [8, 12, 14].contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber })
        else { throw SignerFault(reason: "'\(text)' is no time") }
        let all = digits + String(repeating: "0", count: 14 - digits.count)
        func number(_ from: Int, _ count: Int) -> Int {
            Int(all.dropFirst(from).prefix(count)) ?? 0
        }
        var parts = tm()
        parts.tm_year = Int32(number(0, 4) - 1900)
        parts.tm_mon = Int32(number(4, 2) - 1)
        parts.tm_mday = Int32(number(6, 2))
        parts.tm_hour = Int32(number(8, 2))
        parts.tm_min = Int32(number(10, 2))
        parts.tm_sec = Int32(number(12, 2))
        parts.tm_isdst = -1
        let written = parts
        let time = isUTC ? timegm(&parts) : mktime(&parts)
        // The C library makes the first of March out of the 29th of February. An hour may be one that clocks skip.
        guard written.tm_hour < 24, written.tm_mon == parts.tm_mon,
            written.tm_mday == parts.tm_mday,
            written.tm_min == parts.tm_min, written.tm_sec == parts.tm_sec
        else { throw SignerFault(reason: "'\(text)' is no time") }
        return Date(timeIntervalSince1970: Double(time))
    }
}
