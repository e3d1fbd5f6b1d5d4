internal import Foundation
internal import Yams

/// A configuration's text that is changed line by line, so that comments, order and layout are kept.
///
/// Only simple YAML is changed: keys on separate lines, with values on the lines of their keys. After each change the
/// text is read again, and refused if its meaning is not the expected one.
struct ConfigurationEdit {
    /// An error for a text that cannot be changed without the risk of losing something.
    struct Refused: Error {}

    private(set) var text: String

    init(_ text: String) {
        self.text = text
    }

    /// Sets a key to a text, at the top level or in a profile, which is added if it is missing.
    ///
    /// - Throws: `Refused`; the text does not change then.
    mutating func set(_ key: String, to value: String, in profile: String?) throws {
        var facts = try ConfigurationFacts(of: text)
        let path = ConfigurationFacts.path(key, in: profile)
        facts.set(path, to: value)
        try change(expecting: facts) { lines, root in
            let place = try ConfigurationPlace(of: profile, in: root, &lines)
            try place.set(key, to: Self.written(value), in: &lines)
        }
    }

    /// Removes a key, at the top level or from a profile; a comment on its line stays.
    ///
    /// - Throws: `Refused`; the text does not change then.
    mutating func remove(_ key: String, from profile: String?) throws {
        var facts = try ConfigurationFacts(of: text)
        facts.remove(ConfigurationFacts.path(key, in: profile))
        try change(expecting: facts) { lines, root in
            let place = try ConfigurationPlace(of: profile, in: root, &lines)
            try place.remove(key, in: &lines)
        }
    }

    private mutating func change(
        expecting facts: ConfigurationFacts,
        _ body: (inout [String], Node.Mapping?) throws -> Void
    ) throws {
        let lineEnd = text.contains("\r\n") ? "\r\n" : "\n"
        var lines = text.components(separatedBy: lineEnd)
        // The last line has a line break too.
        if lines.last == "" { lines.removeLast() }
        try body(&lines, try Self.root(of: text))
        let changed = lines.map { $0 + lineEnd }.joined()
        guard try ConfigurationFacts(of: changed) == facts else { throw Refused() }
        text = changed
    }

    static func root(of text: String) throws -> Node.Mapping? {
        guard AliasExpansion(of: text).isBounded else { throw Refused() }
        guard let root = try? Yams.compose(yaml: text, .default, .default, .utf8) else {
            // The text has nothing but comments, or is no YAML.
            let isBlank = text.split(whereSeparator: \.isNewline).allSatisfy {
                let line = $0.drop { $0 == " " }
                return line.isEmpty || line.hasPrefix("#")
            }
            guard isBlank else { throw Refused() }
            return nil
        }
        guard let mapping = root.mapping else { throw Refused() }
        return mapping
    }

    /// Returns a text in YAML's form for the line of a key.
    static func written(_ value: String) -> String {
        let isPlain =
            value.wholeMatch(of: #/[A-Za-z\/.][A-Za-z0-9 \/._~:+@-]*/#) != nil
            && !value.contains(": ") && !value.hasSuffix(":") && !value.hasSuffix(" ")
        if isPlain, let node = try? Yams.compose(yaml: value), node.scalar?.string == value,
            node.tag.description == "tag:yaml.org,2002:str"
        {
            return value
        }
        let escaped = value.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                "\\x" + String(scalar.value + 0x100, radix: 16).dropFirst()
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
