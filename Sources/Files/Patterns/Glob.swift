/// A shell pattern for paths, matched byte by byte as Git does (wildmatch.c, with `WM_PATHNAME`).
///
/// `*`, `?` and `[…]` do not match `/`. `**` between slashes, or at an end, matches any number of directories.
struct Glob: Sendable, Equatable {
    let bytes: [UInt8]

    /// The result of an attempt to match.
    private enum Outcome {
        case matched, differs
        /// No later part of the text can match, or only if a `**` takes slashes.
        case hopeless, hopelessWithoutSlash
    }

    /// Returns whether the pattern matches a whole text.
    func matches(_ text: ArraySlice<UInt8>) -> Bool {
        match(from: 0, text) == .matched
    }

    private func match(from start: Int, _ text: ArraySlice<UInt8>) -> Outcome {
        var position = start
        var text = text
        while position < bytes.count {
            let byte = bytes[position]
            guard let next = text.first else {
                guard byte == star else { return .hopeless }
                return matchStar(at: position, from: start, text)
            }
            switch byte {
            case star: return matchStar(at: position, from: start, text)
            case UInt8(ascii: "?"): if next == slash { return .differs }
            case UInt8(ascii: "["):
                guard let set = ByteSet(bytes, at: position) else { return .hopeless }
                guard set.contains(next), next != slash else { return .differs }
                position = set.end
            case backslash:
                position += 1
                guard position < bytes.count, bytes[position] == next else { return .differs }
            default: if byte != next { return .differs }
            }
            position += 1
            text = text.dropFirst()
        }
        return text.isEmpty ? .matched : .differs
    }

    /// Matches the rest from a star on.
    ///
    /// A single star, or one with a neighbour other than a slash, ends at a slash.
    private func matchStar(at first: Int, from start: Int, _ text: ArraySlice<UInt8>) -> Outcome {
        var position = first + 1
        var takesSlashes = false
        if byte(at: position) == star {
            while byte(at: position) == star { position += 1 }
            let isAlone =
                (first == start || bytes[first - 1] == slash)
                && (byte(at: position).map { $0 == slash } ?? true
                    || byte(at: position) == backslash && byte(at: position + 1) == slash)
            if isAlone {
                // "a/**/b" also matches "a/b".
                if byte(at: position) == slash, match(from: position + 1, text) == .matched {
                    return .matched
                }
                takesSlashes = true
            }
        }
        guard let next = byte(at: position) else {
            return takesSlashes || !text.contains(slash) ? .matched : .differs
        }
        if next == slash, !takesSlashes {
            guard let end = text.firstIndex(of: slash) else { return .differs }
            return match(from: position, text[end...])
        }
        return matchAfterStar(position, text, takesSlashes: takesSlashes)
    }

    private func matchAfterStar(
        _ position: Int,
        _ text: ArraySlice<UInt8>,
        takesSlashes: Bool
    ) -> Outcome {
        var text = text
        while let byte = text.first {
            switch match(from: position, text) {
            case .differs: if byte == slash, !takesSlashes { return .hopelessWithoutSlash }
            case .hopelessWithoutSlash where takesSlashes: break
            case let outcome: return outcome
            }
            text = text.dropFirst()
        }
        return .hopeless
    }

    private func byte(at position: Int) -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    /// The fault that keeps the pattern from matching anything; `nil` if there is none.
    var fault: String? {
        var position = 0
        while position < bytes.count {
            switch bytes[position] {
            case backslash:
                position += 1
                if position == bytes.count { return "nothing follows the '\\' at its end" }
            case UInt8(ascii: "["):
                guard let set = ByteSet(bytes, at: position) else {
                    return "a '[' has no ']', or a class in it that is unknown"
                }
                position = set.end
            default: break
            }
            position += 1
        }
        return nil
    }
}

/// The bytes that a bracket expression matches: `[a-z]`, `[!a]`, `[[:digit:]]`.
private struct ByteSet {
    private var members: Set<UInt8> = []
    private var isNegated = false
    /// The position of the closing `]`.
    let end: Int

    /// Parses the expression at a position; `nil` if it has no end or an unknown class.
    init?(_ bytes: [UInt8], at start: Int) {
        func byte(_ position: Int) -> UInt8? { position < bytes.count ? bytes[position] : nil }
        var position = start + 1
        if let sign = byte(position), sign == UInt8(ascii: "!") || sign == UInt8(ascii: "^") {
            isNegated = true
            position += 1
        }
        var previous: UInt8?
        repeat {
            guard var member = byte(position) else { return nil }
            if member == backslash {
                position += 1
                guard let escaped = byte(position) else { return nil }
                member = escaped
                members.insert(member)
                previous = member
            } else if member == UInt8(ascii: "-"), let low = previous,
                let next = byte(position + 1),
                next != UInt8(ascii: "]")
            {
                position += 1
                if next == backslash { position += 1 }
                guard let high = byte(position) else { return nil }
                if low <= high { members.formUnion(low...high) }
                previous = nil
            } else if member == UInt8(ascii: "["), byte(position + 1) == UInt8(ascii: ":") {
                guard let close = bytes[(position + 2)...].firstIndex(of: UInt8(ascii: "]")) else {
                    return nil
                }
                if close > position + 2, bytes[close - 1] == UInt8(ascii: ":") {
                    let name = String(decoding: bytes[(position + 2)..<(close - 1)], as: UTF8.self)
                    guard let known = Self.members(of: name) else { return nil }
                    members.formUnion(known)
                    position = close
                    previous = nil
                } else {
                    members.insert(member)
                    previous = member
                }
            } else {
                members.insert(member)
                previous = member
            }
            position += 1
        } while byte(position) != UInt8(ascii: "]")
        end = position
    }

    func contains(_ byte: UInt8) -> Bool { members.contains(byte) != isNegated }

    /// Returns the bytes of a class in the C locale (isalpha(3)).
    private static func members(of name: String) -> Set<UInt8>? {
        let digits = Set(UInt8(ascii: "0")...UInt8(ascii: "9"))
        let lower = Set(UInt8(ascii: "a")...UInt8(ascii: "z"))
        let upper = Set(UInt8(ascii: "A")...UInt8(ascii: "Z"))
        let visible = Set<UInt8>(0x21...0x7E)
        switch name {
        case "alnum": return digits.union(lower).union(upper)
        case "alpha": return lower.union(upper)
        case "blank": return [0x20, 0x09]
        case "cntrl": return Set(0...0x1F).union([0x7F])
        case "digit": return digits
        case "graph": return visible
        case "lower": return lower
        case "print": return visible.union([0x20])
        case "punct": return visible.subtracting(digits).subtracting(lower).subtracting(upper)
        case "space": return [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
        case "upper": return upper
        case "xdigit": return digits.union("abcdefABCDEF".utf8)
        default: return nil
        }
    }
}

private let slash = UInt8(ascii: "/")
private let star = UInt8(ascii: "*")
private let backslash = UInt8(ascii: "\\")
