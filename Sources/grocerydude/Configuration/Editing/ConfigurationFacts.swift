internal import Yams

/// The content of a configuration by path, independent of its layout.
struct ConfigurationFacts: Equatable {
    /// The keys, and indices of lists, from the root.
    typealias Path = [String]

    private static let nothing = "tag:yaml.org,2002:null"
    private static let text = "tag:yaml.org,2002:str"

    private var values: [Path: String] = [:]

    /// Parses a text; throws `ConfigurationEdit.Refused` if it is invalid.
    init(of text: String) throws {
        guard let root = try ConfigurationEdit.root(of: text) else { return }
        for (key, value) in root { add(value, at: [key.string ?? ""]) }
        // Empty profiles make no difference.
        values = values.filter { !($0.key.count < 3 && $0.value.hasPrefix(Self.nothing)) }
    }

    static func path(_ key: String, in profile: String?) -> Path {
        (profile.map { ["profiles", $0] } ?? []) + [key]
    }

    mutating func set(_ path: Path, to value: String) {
        values[path] = "\(Self.text) \(value)"
    }

    mutating func remove(_ path: Path) {
        values[path] = nil
    }

    private mutating func add(_ node: Node, at path: Path) {
        switch node {
        case .scalar(let scalar):
            let tag = node.tag.description
            values[path] = tag == Self.nothing ? tag : "\(tag) \(scalar.string)"
        case .sequence(let items):
            if items.isEmpty { values[path] = "[]" }
            for (index, item) in items.enumerated() { add(item, at: path + ["\(index)"]) }
        case .mapping(let mapping):
            if mapping.isEmpty { values[path] = "{}" }
            for (key, value) in mapping { add(value, at: path + [key.string ?? ""]) }
        case .alias: values[path] = "*"
        }
    }
}
