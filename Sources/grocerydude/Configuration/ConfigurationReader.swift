internal import Files
internal import Foundation
internal import Yams

/// A collector of the values and the faults in a configuration's nodes.
struct ConfigurationReader {
    let file: String
    private(set) var common: ConfigurationFile.Values = [:]
    private(set) var profiles: [(name: String, values: ConfigurationFile.Values)] = []
    private(set) var faults: [ConfigurationFault] = []

    private static let profilesKey = "profiles"

    private let settings = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.key, $0) })
    private let base: String

    /// Creates a reader for a file's nodes; relative paths in it begin at the directory `base`.
    init(file: String, base: String) {
        self.file = file
        self.base = base == "/" ? "" : base
    }

    /// The place of a mapping in the configuration.
    private struct Place {
        var profile: String?
        /// The names of its parent sections.
        var sections: [String] = []

        func key(_ name: String) -> String { (sections + [name]).joined(separator: ".") }

        /// The place for messages: ` in 'hooks.backup' of profile 'photos'`.
        var phrase: String {
            let section = sections.isEmpty ? nil : "'\(sections.joined(separator: "."))'"
            let profile = profile.map { "profile '\($0)'" }
            let parts = [section, profile].compactMap(\.self).joined(separator: " of ")
            return parts.isEmpty ? "" : " in \(parts)"
        }
    }

    /// Reads the whole configuration.
    mutating func read(_ root: Node.Mapping) {
        for (key, value) in root where key.string == Self.profilesKey {
            readProfiles(value)
        }
        let rest = root.filter { $0.key.string != Self.profilesKey }
        common = read(rest, at: Place())
    }

    private mutating func readProfiles(_ node: Node) {
        if isNothing(node) { return }
        guard let mapping = node.mapping else {
            return add(node, "'profiles' must have the profiles' names as keys")
        }
        for (key, value) in mapping {
            guard let name = key.scalar?.string, Self.isName(name) else {
                let name = key.scalar.map { " '\($0.string)'" } ?? ""
                add(
                    key,
                    "the profile's name\(name) cannot be used",
                    hint:
                        "use letters, digits, '-', '_' and '.', 64 at most, and begin with a letter or digit"
                )
                continue
            }
            if let settings = value.mapping {
                profiles.append((name, read(Array(settings), at: Place(profile: name))))
            } else if isNothing(value) {
                profiles.append((name, [:]))
            } else {
                add(value, "profile '\(name)' must have keys and values")
            }
        }
    }

    /// Returns whether a profile's name is valid, since it becomes part of the names of units and files.
    static func isName(_ name: String) -> Bool {
        name.utf8.count <= 64 && name.first?.isPunctuation == false && !name.isEmpty
            && name.allSatisfy { $0.isWord(or: "-_.") }
    }

    private mutating func read(
        _ pairs: [(key: Node, value: Node)],
        at place: Place
    ) -> ConfigurationFile.Values {
        var values: ConfigurationFile.Values = [:]
        for (key, node) in pairs {
            guard let name = key.scalar?.string else {
                add(key, "a key\(place.phrase) is not text")
                continue
            }
            let path = place.key(name)
            if let setting = settings[path] {
                values[path] = read(node, of: setting, named: name, at: place)
            } else if settings.keys.contains(where: { $0.hasPrefix(path + ".") }) {
                readSection(node, named: name, at: place, into: &values)
            } else {
                addUnknown(key, name, at: place)
            }
        }
        return values
    }

    private mutating func readSection(
        _ node: Node,
        named name: String,
        at place: Place,
        into values: inout ConfigurationFile.Values
    ) {
        if isNothing(node) { return }
        guard let mapping = node.mapping else {
            return add(
                node,
                "'\(name)'\(place.phrase) must have keys and values, such as \(firstKey(in: place.key(name)))"
            )
        }
        var inner = place
        inner.sections.append(name)
        values.merge(read(Array(mapping), at: inner)) { $1 }
    }

    private func firstKey(in section: String) -> String {
        let key = Setting.all.map(\.key).first { $0.hasPrefix(section + ".") } ?? section
        return "'\(key.dropFirst(section.count + 1).split(separator: ".").first ?? ""):'"
    }

    private mutating func read(
        _ node: Node,
        of setting: Setting,
        named name: String,
        at place: Place
    ) -> WrittenValue? {
        let value = WrittenValue(
            form: form(of: node),
            origin: .file(file, line: node.mark?.line ?? 1),
            base: base
        )
        var scratch = Profile()
        do {
            try setting.read(value, &scratch)
            return value
        } catch let error as WrongValue {
            add(node, "'\(name)'\(place.phrase) \(error.reason)", hint: error.hint)
        } catch {
            add(node, "'\(name)'\(place.phrase) cannot be read: \(explain(error))")
        }
        return nil
    }

    private mutating func addUnknown(_ key: Node, _ name: String, at place: Place) {
        var hint: String?
        var message = "unknown key '\(name)'\(place.phrase)"
        let prefix = place.sections.map { $0 + "." }.joined()
        var siblings = Set(
            settings.keys.filter { $0.hasPrefix(prefix) }
                .map { String($0.dropFirst(prefix.count).prefix { $0 != "." }) }
        )
        if place.profile == nil, place.sections.isEmpty { siblings.insert(Self.profilesKey) }
        if let nearest = nearestName(to: name, among: siblings.sorted()) {
            message += "; did you mean '\(nearest)'?"
        } else if let home = settings.keys.sorted().first(where: { $0.hasSuffix(".\(name)") }) {
            message += "; it belongs in '\(home.dropLast(name.count + 1))'"
        } else {
            hint = "known are \(siblings.sorted().joined(separator: ", "))"
        }
        add(key, message, hint: hint)
    }

    private mutating func add(_ node: Node, _ reason: String, hint: String? = nil) {
        faults.append(
            ConfigurationFault(file: file, line: node.mark?.line ?? 1, reason: reason, hint: hint)
        )
    }

    private func isNothing(_ node: Node) -> Bool {
        if case .nothing = form(of: node) { true } else { false }
    }

    private func form(of node: Node) -> WrittenValue.Form {
        switch node {
        case .scalar(let scalar):
            switch node.tag.description {
            case "tag:yaml.org,2002:null": .nothing
            case "tag:yaml.org,2002:bool": .boolean(scalar.string)
            case "tag:yaml.org,2002:int", "tag:yaml.org,2002:float": .number(scalar.string)
            default: .text(scalar.string)
            }
        // A nested list is invalid, whatever it contains.
        case .sequence(let items):
            .list(items.map { $0.sequence == nil ? form(of: $0) : .list([]) })
        case .mapping: .mapping
        case .alias: .nothing
        }
    }
}
