internal import Files
internal import Foundation
internal import SystemPackage
internal import Yams

/// A valid file of a configuration, or several that are merged.
///
/// It is read with Yams node by node, since only that yields the line of a key, and the keys that nothing reads.
struct ConfigurationFile {
    /// The values by their settings' keys.
    typealias Values = [String: WrittenValue]

    /// The absolute path of the file; of the own file if several are merged.
    let path: String
    /// The settings for all profiles.
    private(set) var common: Values = [:]
    /// The profiles with their values, in the order of the file.
    private(set) var profiles: [(name: String, values: Values)] = []

    /// The maximum size in bytes; files written by hand are smaller.
    private static let sizeLimit = 1 << 18
    private static let exampleHint = "'grocerydude config example' prints one to begin with"

    /// Reads a file's text; returns `nil` if there are only comments in it.
    ///
    /// - Parameters:
    ///   - path: the file's absolute path.
    ///   - text: its text.
    ///   - base: the directory at which relative paths begin.
    /// - Throws: `ConfigurationError` with all faults of the text.
    init?(_ path: String, text: String, base: String) throws {
        self.path = path
        var reader = ConfigurationReader(file: path, base: base)
        guard let root = try Self.compose(text, of: path) else { return nil }
        reader.read(root)
        guard reader.faults.isEmpty else {
            throw ConfigurationError.invalid(reader.faults.sorted { $0.line < $1.line })
        }
        common = reader.common
        profiles = reader.profiles
    }

    /// Merges files; each overrides those before it, setting by setting.
    ///
    /// - Parameters:
    ///   - files: the files, the own one last.
    ///   - path: the absolute path of the own file, which may be missing.
    init(merging files: [ConfigurationFile], at path: String) {
        self.path = path
        // The own file's profiles come first.
        for file in files.reversed() where file.path == path {
            profiles = file.profiles.map { ($0.name, [:]) }
        }
        for file in files {
            common.merge(file.common) { $1 }
            for (name, values) in file.profiles {
                guard let index = profiles.firstIndex(where: { $0.name.exact == name.exact }) else {
                    profiles.append((name, values))
                    continue
                }
                profiles[index].values.merge(values) { $1 }
            }
        }
    }

    /// Returns the values of a profile, without those for all; `nil` if there is no such profile.
    func values(of profile: String?) -> Values? {
        guard let profile else { return common }
        return profiles.first { $0.name.exact == profile.exact }?.values
    }

    static func empty(_ path: String) -> ConfigurationError {
        .unreadable(path, reason: "is empty", hint: exampleHint)
    }

    /// Returns the text of a file that only trusted users may change; throws `ConfigurationError`.
    static func text(of path: FilePath) throws -> String {
        let name = printable(path)
        func unreadable(_ reason: String, _ hint: String? = nil) -> ConfigurationError {
            ConfigurationError.unreadable(name, reason: reason, hint: hint)
        }
        if let exposure = Exposure(of: path) {
            throw ConfigurationError.exposed("the configuration '\(name)'", exposure)
        }
        do {
            // Many configurations are links into a directory of configurations.
            let resolved = try path.resolved()
            switch try FileInfo(of: resolved).kind {
            case .file: break
            case .directory: throw unreadable("is a directory", "name the file in it")
            default: throw unreadable("is not a file")
            }
            let file = try File.open(resolved)
            let size = try file.info().size
            guard size <= sizeLimit else {
                throw unreadable("is too large: \(byteCount(size))", "is it the right file?")
            }
            let bytes = try file.readExactly(count: Int(size), at: 0)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw unreadable("is not text in UTF-8", "is it the right file?")
            }
            // Some editors write a byte order mark first, which YAML allows (5.2) and Yams does not accept.
            return text.unicodeScalars.first == "\u{FEFF}" ? String(text.dropFirst()) : text
        } catch let error as FileError where error.isMissing {
            throw unreadable("is not there", exampleHint)
        } catch let error as FileError {
            throw unreadable("cannot be used: \(error)", error.hint)
        }
    }

    /// Returns the root's keys and values; `nil` if there is no root.
    private static func compose(_ text: String, of file: String) throws -> Node.Mapping? {
        func fault(_ line: Int, _ reason: String, hint: String? = nil) -> ConfigurationError {
            .invalid([ConfigurationFault(file: file, line: line, reason: reason, hint: hint)])
        }
        guard AliasExpansion(of: text).isBounded else {
            throw fault(1, "it has too many anchors and aliases")
        }
        do {
            // The arguments are explicit, since the defaults read the environment, and may print.
            guard let root = try Yams.compose(yaml: text, .default, .default, .utf8) else {
                return nil
            }
            guard let mapping = root.mapping else {
                throw fault(root.mark?.line ?? 1, "it does not begin with a key, such as 'stores:'")
            }
            return mapping
        } catch let error as YamlError {
            let (line, reason) = explain(error)
            if isIndentedWithTab(line, of: text) || isIndentedWithTab(line + 1, of: text) {
                throw fault(
                    isIndentedWithTab(line, of: text) ? line : line + 1,
                    "a tab is where YAML wants spaces"
                )
            }
            throw fault(line, reason, hint: "'grocerydude config example' shows the form")
        }
    }

    private static func isIndentedWithTab(_ line: Int, of text: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return false }
        return lines[line - 1].prefix { $0 == " " || $0 == "\t" }.contains("\t")
    }

    private static func explain(_ error: YamlError) -> (line: Int, reason: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return (mark.line, "this is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.map { "'\($0)'" }.joined(separator: ", ")
            return (context.mark.line, "\(names) is here, and again further down")
        case .reader(let problem, let offset, _, let yaml):
            let line = yaml.prefix(offset ?? 0).filter(\.isNewline).count + 1
            return (line, "this is not YAML: \(problem)")
        default:
            return (1, "this is not YAML")
        }
    }
}

/// The growth of a text by its aliases while it is parsed.
///
/// The parser expands an alias to compare keys, so a few lines can produce more nodes than there are atoms. The text is
/// checked before: n uses of d anchors make at most (n/d)^d copies of a node.
struct AliasExpansion {
    let isBounded: Bool

    private static let copiesLimit = 100_000.0

    init(of text: String) {
        let anchors = Self.names(after: "&", in: text)
        let defined = Set(anchors)
        let uses = Self.names(after: "*", in: text).filter(defined.contains).count
        let mostCopies = (1...max(1, anchors.count)).map {
            pow(Double(uses) / Double($0), Double($0))
        }
        .max()
        isBounded = (mostCopies ?? 0) <= Self.copiesLimit
    }

    private static func names(after mark: Character, in text: String) -> [Substring] {
        text.split(separator: mark, omittingEmptySubsequences: false).dropFirst()
            .map { $0.prefix { $0.isWord(or: "_-") } }
            .filter { !$0.isEmpty }
    }
}
