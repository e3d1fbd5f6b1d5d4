internal import Files
internal import Foundation
internal import Yams

/// The lines of a configuration with a profile's keys, or with those of the top level.
struct ConfigurationPlace {
    /// The existing keys, in order, with their line numbers from 0.
    private let keys: [(name: String, line: Int)]
    /// The number of spaces before each key.
    private let indent: Int
    /// The number of the line at which a first key would be inserted.
    private let start: Int

    /// Finds the place, and creates it if it is missing.
    ///
    /// - Parameters:
    ///   - profile: the profile; `nil` for the top level.
    ///   - root: the whole configuration; `nil` if it has no keys.
    ///   - lines: the configuration's lines, to which a new profile is added.
    /// - Throws: `ConfigurationEdit.Refused`.
    init(of profile: String?, in root: Node.Mapping?, _ lines: inout [String]) throws {
        let top = try root.map { try Self(of: $0, lines) } ?? Self(empty: 0, at: lines.count)
        guard let profile else {
            self = top
            return
        }
        guard let key = top.keys.first(where: { $0.name == "profiles" }) else {
            lines.append(Self.spaces(top.indent) + "profiles:")
            lines.append(Self.spaces(top.indent + 2) + "\(profile):")
            self.init(empty: top.indent + 4, at: lines.count)
            return
        }
        guard let profiles = root?["profiles"]?.mapping else {
            try Self.requireNothing(after: key.line, lines)
            lines.insert(Self.spaces(top.indent + 2) + "\(profile):", at: key.line + 1)
            self.init(empty: top.indent + 4, at: key.line + 2)
            return
        }
        let all = try Self(of: profiles, lines)
        if let own = all.keys.first(where: { $0.name.exact == profile.exact }) {
            if let mapping = profiles[profile]?.mapping {
                try self.init(of: mapping, lines)
            } else {
                try Self.requireNothing(after: own.line, lines)
                self.init(empty: all.indent + 2, at: own.line + 1)
            }
            return
        }
        let next = top.keys.first { $0.line > key.line }?.line ?? lines.count
        var end = next
        // Comments before the next key belong to that key.
        while end > key.line + 1, Self.isOutside(lines[end - 1], all.indent) { end -= 1 }
        lines.insert(Self.spaces(all.indent) + "\(profile):", at: end)
        self.init(empty: all.indent + 2, at: end + 1)
    }

    private init(empty indent: Int, at line: Int) {
        keys = []
        self.indent = indent
        start = line
    }

    private init(of mapping: Node.Mapping, _ lines: [String]) throws {
        guard mapping.style != .flow else { throw ConfigurationEdit.Refused() }
        keys = try mapping.map { key, _ in
            guard let name = key.string, let mark = key.mark, lines.indices.contains(mark.line - 1)
            else { throw ConfigurationEdit.Refused() }
            return (name, mark.line - 1)
        }
        guard let first = mapping.first?.key.mark else { throw ConfigurationEdit.Refused() }
        indent = first.column - 1
        start = first.line - 1
        for key in keys where lines[key.line].prefix(while: { $0 == " " }).count != indent {
            throw ConfigurationEdit.Refused()
        }
    }

    /// Sets a key to a value in its YAML form.
    func set(_ key: String, to value: String, in lines: inout [String]) throws {
        if let line = keys.first(where: { $0.name == key })?.line {
            let parts = try Self.split(lines[line])
            let space = parts.space.isEmpty ? " " : parts.space
            let rest = parts.rest.hasPrefix("#") ? " " + parts.rest : parts.rest
            lines[line] = parts.key + (parts.value.isEmpty ? " " : space) + value + rest
            return
        }
        // A profile's places are kept together.
        var line = start
        if let stores = keys.first(where: { $0.name == "stores" })?.line,
            let parts = try? Self.split(lines[stores]), !parts.value.isEmpty
        {
            line = stores + 1
        }
        lines.insert(Self.spaces(indent) + "\(key): \(value)", at: line)
    }

    /// Removes a key's line; a comment on it is kept on a separate line.
    func remove(_ key: String, in lines: inout [String]) throws {
        guard let line = keys.first(where: { $0.name == key })?.line else { return }
        let parts = try Self.split(lines[line])
        let comment = parts.rest.trimmingCharacters(in: .whitespaces)
        if indent == 0, keys.count == 1 {
            // Without any key it would not be a configuration.
            lines[line] = "profiles:" + (comment.isEmpty ? "" : "  \(comment)")
        } else if comment.isEmpty {
            lines.remove(at: line)
        } else {
            lines[line] = Self.spaces(indent) + comment
        }
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    private static func isOutside(_ line: String, _ indent: Int) -> Bool {
        let text = line.drop { $0 == " " }
        return text.isEmpty || text.hasPrefix("#") && line.count - text.count < indent
    }

    private static func requireNothing(after line: Int, _ lines: [String]) throws {
        let parts = try split(lines[line])
        guard parts.value.isEmpty else { throw ConfigurationEdit.Refused() }
    }

    /// Splits a line into the key with its colon, the space behind it, the value, and the rest.
    private static func split(
        _ line: String
    ) throws -> (key: String, space: String, value: String, rest: String) {
        let form = #/(\s*(?:"[^"\\]*"|'[^']*'|[^\s"'#:]+)\s*:)(\s*)(.*)/#
        guard let match = line.wholeMatch(of: form)?.output else {
            throw ConfigurationEdit.Refused()
        }
        let text = match.3
        let length: Int
        switch text.first {
        case nil, "#": length = 0
        case "\"": length = try quoted(text, #/"(?:[^"\\]|\\.)*"/#)
        case "'": length = try quoted(text, #/'(?:[^']|'')*'/#)
        case "|", ">", "&", "*", "!", "{", "[", "%", "@", "`": throw ConfigurationEdit.Refused()
        default:
            let plain = text.firstMatch(of: #/\s+#|\s+$/#)?.range.lowerBound ?? text.endIndex
            length = text.distance(from: text.startIndex, to: plain)
        }
        let value = text.prefix(length)
        return (
            String(match.1), String(match.2), String(value), String(text.dropFirst(length))
        )
    }

    private static func quoted(
        _ text: Substring,
        _ form: Regex<Substring>
    ) throws -> Int {
        guard let match = text.prefixMatch(of: form) else { throw ConfigurationEdit.Refused() }
        return match.output.count
    }
}
