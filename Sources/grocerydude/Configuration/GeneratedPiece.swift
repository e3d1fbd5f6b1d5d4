internal import Yams

/// A piece of a configuration that this program writes: settings of one profile, or of all.
struct GeneratedPiece {
    /// The profile; `nil` for the settings of all profiles.
    let profile: String?
    /// The settings' texts by key.
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
            if case .text(let text) = value.form { values[key] = text }
        }
        guard try text == self.text else { return nil }
    }

    /// The name of the piece's file.
    static func fileName(of profile: String?) -> String { "\(profile ?? "_common").yaml" }

    /// The piece as YAML; `nil` if it has no settings.
    var text: String? {
        get throws {
            if values.isEmpty { return nil }
            let settings = Self.mapping(
                values.sorted { $0.key < $1.key }.map { key, value in
                    (key, Node(value, Tag(.str), .doubleQuoted))
                }
            )
            let root = profile.map { Self.mapping([("profiles", Self.mapping([($0, settings)]))]) }
            return try Self.notice + Self.yaml(root ?? settings)
        }
    }

    /// Returns a setting as a line of YAML.
    static func line(_ key: String, _ value: String) throws -> String {
        let line = try yaml(mapping([(key, Node(value, Tag(.str), .doubleQuoted))]))
        return String(line.dropLast())
    }

    private static func mapping(_ pairs: [(String, Node)]) -> Node {
        Node(pairs.map { (Node($0), $1) }, Tag(.map), .block)
    }

    private static func yaml(_ node: Node) throws -> String {
        // A line that is too long would be continued on the next.
        try Yams.serialize(node: node, width: -1, allowUnicode: true)
    }
}
