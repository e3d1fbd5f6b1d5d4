internal import Files

/// The options by which the commands in hints mean the places of this run, if options named those.
struct HintedPlaces: Sendable {
    /// The options by their names, with their values.
    private var options: [(name: String, text: String)] = []

    /// The commands that take a remote folder, and those that take no more than a stores directory or a profile.
    private static let ofFolder: Set = [
        "backup", "check", "consolidate", "copy", "delete", "diff", "extract", "find", "import",
        "key check", "key list", "key print", "key rotate", "list", "mount", "pin", "prune",
        "report", "restore", "show", "sql", "status", "trust add", "trust list", "trust remove",
        "undelete",
    ]
    private static let ofStores: Set = ["log", "sync"]
    private static let ofProfile: Set = [
        "config show", "schedule install", "schedule remove", "schedule show", "unlink",
    ]

    /// Adds an option, by its name and its value.
    mutating func add(_ name: String, _ value: String) {
        options.append((name, Advice.option(name, value)))
    }

    /// Returns a text in which each of this program's commands has the options that it takes and lacks.
    func applied(to text: String) -> String {
        guard !options.isEmpty, text.contains("grocerydude ") else { return text }
        return text.replacing(/'(grocerydude [^'\n]*)'|grocerydude [a-z]+( [a-z]+)?/) { match in
            if let quoted = match.1 { return Advice.quoted(completed(String(quoted), before: "")) }
            let rest = text[match.range.upperBound...].prefix { $0 != "\n" }
            return completed(String(match.0), before: rest)
        }
    }

    /// Returns a command with the options that neither it nor the text behind it has.
    private func completed(_ command: String, before rest: Substring) -> String {
        guard let match = command.prefixMatch(of: /grocerydude ([a-z]+)( [a-z]+)?/) else {
            return command
        }
        let (first, both) = (String(match.1), "\(match.1)\(match.2 ?? "")")
        let words = [both, first].first { taken(by: $0) != nil }
        guard let words, let taken = taken(by: words) else { return command }
        let missing = options.filter { option in
            taken.contains(option.name)
                && ![command[...], rest].contains { $0.contains("--\(option.name)") }
        }
        let behind = command.dropFirst("grocerydude \(words)".count)
        return (["grocerydude \(words)"] + missing.map(\.text)).joined(separator: " ") + behind
    }

    /// Returns the names of the options that a command takes; `nil` if it is none of these.
    private func taken(by words: String) -> Set<String>? {
        if Self.ofFolder.contains(words) { return ["profile", "config", "stores", "remote"] }
        if Self.ofStores.contains(words) || words.hasPrefix("sync ") {
            return ["profile", "config", "stores"]
        }
        return Self.ofProfile.contains(words) ? ["profile", "config"] : nil
    }
}
