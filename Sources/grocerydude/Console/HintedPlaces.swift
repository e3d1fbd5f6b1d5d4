internal import Files
internal import Operations
internal import SystemPackage

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

    init() {}

    /// Creates the options for the configuration.
    init(_ configuration: ConfigurationOptions) {
        if let name = configuration.profile { add("profile", name) }
        if let file = configuration.configuration { add("config", Setting.absolute(file)) }
    }

    /// Creates the options for a run.
    ///
    /// - Parameters:
    ///   - configuration: the options of the command line.
    ///   - invocation: the run.
    ///   - isOneOfSeveral: whether the same command runs for other profiles too.
    init(_ configuration: ConfigurationOptions, _ invocation: Invocation, isOneOfSeveral: Bool) {
        self.init(configuration)
        let profile = invocation.profile
        func isOption(_ key: String) -> Bool {
            if case .flag(let name) = profile.origin(of: key) {
                name.hasPrefix("--")
            } else {
                false
            }
        }
        if isOneOfSeveral, let name = profile.name { add("profile", name) }
        if isOption("stores") { add("stores", invocation.absolute(invocation.stores).string) }
        if isOption("remote") { add("remote", invocation.address) }
    }

    private mutating func add(_ name: String, _ value: String) {
        options.append((name, Advice.option(name, value)))
    }

    /// Returns a text in which each of this program's commands has the options that it takes and lacks.
    func applied(to text: String) -> String {
        guard !options.isEmpty, text.contains("grocerydude ") else { return text }
        return text.replacing(/grocerydude ([a-z]+)( [a-z]+)?/) { match in
            let (first, both) = (String(match.1), "\(match.1)\(match.2 ?? "")")
            let words = [both, first].first { taken(by: $0) != nil }
            guard let words, let taken = taken(by: words) else { return String(match.0) }
            let rest = text[match.range.upperBound...].prefix { $0 != "\n" }
            let missing = options.filter {
                taken.contains($0.name) && !rest.contains("--\($0.name)")
            }
            let behind = match.0.dropFirst("grocerydude \(words)".count)
            return (["grocerydude \(words)"] + missing.map(\.text)).joined(separator: " ") + behind
        }
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
