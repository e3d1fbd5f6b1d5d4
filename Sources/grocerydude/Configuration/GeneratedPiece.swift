internal import Yams

/// A piece of a configuration that this program writes: settings of one profile, or of all.
struct GeneratedPiece {
    /// The profile; `nil` for the settings of all profiles.
    let profile: String?
    /// The settings' texts by key; several lines are a list if the setting can be one.
    var values: [String: String] = [:]

    private static let notice =
        "# grocerydude wrote this and may write it again: keep your own settings in another file.\n"

    /// Creates a piece with the settings in a text; `nil` if this program would not write the text exactly so, since a
    /// person has changed it.
    ///
    /// - Parameters:
    ///   - profile: the profile; `nil` for the settings of all profiles.
    ///   - text: the text; `nil` if there is no piece yet.
    ///   - file: the text's settings.
    /// - Throws: `YamlError` if YAML cannot express a setting.
    init?(of profile: String?, _ text: String?, _ file: ConfigurationFile?) throws {
        self.profile = profile
        for (key, value) in file?.values(of: profile) ?? [:] {
            values[key] = value.form.lines?.joined(separator: "\n")
        }
        guard try text == self.text else { return nil }
    }

    /// The name of the piece's file.
    static func fileName(of profile: String?) -> String { "\(profile ?? "_common").yaml" }

    /// The piece as YAML; `nil` if it has no settings.
    var text: String? {
        get throws {
            if values.isEmpty { return nil }
            let nodes = values.map { ($0.key[...], Self.scalar($0.value, of: $0.key, .block)) }
            let settings = Self.section(nodes, .block)
            let root = profile.map { Self.mapping([("profiles", Self.mapping([($0, settings)]))]) }
            return try Self.notice + Self.yaml(root ?? settings)
        }
    }

    /// Returns a setting as a line of YAML.
    static func line(_ key: String, _ value: String) throws -> String {
        let node = scalar(value, of: key, .flow)
        let name = key.prefix { $0 != "." }
        let inner =
            name == key[...] ? node : section([(key.dropFirst(name.count + 1), node)], .flow)
        return String(try yaml(mapping([(String(name), inner)])).dropLast())
    }

    /// Returns settings by their keys, with a section for each group of keys that have a dot.
    private static func section(
        _ values: [(key: Substring, node: Node)],
        _ style: Node.Mapping.Style
    ) -> Node {
        let groups = Dictionary(grouping: values) { $0.key.prefix { $0 != "." } }
        let pairs = groups.sorted { $0.key < $1.key }.map { name, inner in
            let own = inner.first { $0.key == name }?.node
            let rest = inner.map { ($0.key.dropFirst(name.count + 1), $0.node) }
            return (Node(String(name)), own ?? section(rest, style))
        }
        return Node(pairs, Tag(.map), style)
    }

    /// Returns the text of a setting, or its lines as a list.
    private static func scalar(
        _ value: String,
        of key: String,
        _ style: Node.Sequence.Style
    ) -> Node {
        guard case .list(let lines) = Setting.read(value, of: key)?.form else {
            return Node(value, Tag(.str), .doubleQuoted)
        }
        let nodes = lines.compactMap { item in
            if case .text(let line) = item { Node(line, Tag(.str), .doubleQuoted) } else { nil }
        }
        return Node(nodes, Tag(.seq), style)
    }

    /// The piece without secrets, for people.
    var shown: GeneratedPiece {
        var shown = self
        for (key, value) in values { shown.values[key] = Setting.shown(value, of: key) }
        return shown
    }

    private static func mapping(_ pairs: [(String, Node)]) -> Node {
        Node(pairs.map { (Node($0), $1) }, Tag(.map), .block)
    }

    private static func yaml(_ node: Node) throws -> String {
        // A line that is too long would be continued on the next.
        try Yams.serialize(node: node, width: -1, allowUnicode: true)
    }
}

extension WrittenValue.Form {
    /// The texts of a text, or of a list of texts; `nil` for another form, which this program does not write.
    fileprivate var lines: [String]? {
        switch self {
        case .text(let text): [text]
        case .list(let items):
            items.reduce([]) { lines, item in
                if case .text(let text) = item { lines.map { $0 + [text] } } else { nil }
            }
        default: nil
        }
    }
}

extension Setting {
    /// Reads a text, whose lines are a list if the setting can be one.
    ///
    /// - Returns: the form that was read, and the profile with the setting; `nil` if it is none.
    fileprivate static func read(
        _ text: String,
        of key: String
    ) -> (form: WrittenValue.Form, setting: Setting, profile: Profile)? {
        guard let setting = all.first(where: { $0.key == key }) else { return nil }
        let lines = text.split(separator: "\n").map { WrittenValue.Form.text(String($0)) }
        let forms = (lines.count > 1 ? [WrittenValue.Form.list(lines)] : []) + [.text(text)]
        for form in forms {
            var profile = Profile()
            let value = WrittenValue(form: form, origin: .default)
            if (try? setting.read(value, &profile)) != nil { return (form, setting, profile) }
        }
        return nil
    }

    /// Returns a text as the setting is shown: without secrets.
    static func shown(_ text: String, of key: String) -> String {
        read(text, of: key).map { $0.setting.show($0.profile).lines.joined(separator: "\n") }
            ?? text
    }
}
