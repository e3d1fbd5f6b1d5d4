internal import Files

/// Why a configuration, or the profile that is asked for, cannot be used.
enum ConfigurationError: ExplainedError {
    /// It cannot be read as a file.
    case unreadable(String, reason: String, hint: String?)
    /// It is read, and has faults; one at least.
    case invalid([ConfigurationFault])
    case noProfile(String, file: String, names: [String])
    /// A profile is asked for, and there is no configuration.
    case noConfiguration(profile: String?, file: String)
    /// It has profiles, and none is chosen.
    case whichProfile(file: String, names: [String])
    /// All profiles are asked for, with one place for all of them.
    case notForAll(String)
    /// Profiles with different stores have one remote folder, or one file of metrics.
    case shared(key: String, value: String, names: [String])
    /// A flag or a variable of the environment has an invalid value.
    case wrongValue(String, WrongValue)
    /// It cannot be changed without a risk of losing something of it.
    case notEditable(String, profile: String?, lines: [String])
    /// Somebody else has changed it since it was read.
    case changedMeanwhile(String)

    var description: String {
        switch self {
        case .unreadable(let path, let reason, _): "the configuration '\(path)' \(reason)"
        case .invalid(let faults):
            (faults.first?.description ?? "")
                + (faults.count > 1 ? " (and \(faults.count - 1) more)" : "")
        case .noProfile(let name, let file, _): "there is no profile '\(name)' in '\(file)'"
        case .noConfiguration(.some(let name), let file):
            "there is no profile '\(name)': there is no configuration '\(file)'"
        case .noConfiguration(nil, let file):
            "there are no profiles: there is no configuration '\(file)'"
        case .whichProfile(let file, _): "no profile is chosen of those in '\(file)'"
        case .notForAll(let name): "\(name) would be the same for all profiles"
        case .shared(let key, let value, let names):
            "the profiles \(names.map { "'\($0)'" }.joined(separator: " and ")) have different stores and one \(key == "remote" ? "remote folder" : "metrics file"): '\(value)'"
        case .wrongValue(let name, let wrong): "\(name) \(wrong.reason)"
        case .notEditable(let path, _, _):
            "the configuration '\(path)' was not changed: its form is not one that can be changed safely"
        case .changedMeanwhile(let path):
            "the configuration '\(path)' was not changed: somebody else has changed it meanwhile"
        }
    }

    var hint: String? {
        switch self {
        case .unreadable(_, _, let hint): return hint
        case .invalid(let faults):
            return faults.count > 1
                ? "run 'grocerydude config validate' to see all of them" : faults.first?.hint
        case .noProfile(let name, _, let names):
            if let nearest = nearestName(to: name, among: names) {
                return "did you mean '\(nearest)'?"
            }
            return names.isEmpty
                ? "it has none: leave out '--profile'"
                : "it has \(names.map { "'\($0)'" }.joined(separator: ", "))"
        case .noConfiguration:
            return "'grocerydude config example' prints one to begin with"
        case .whichProfile(_, let names):
            return "say which: \(names.map { "'--profile \($0)'" }.joined(separator: ", "))"
        case .notForAll: return "set it in each profile, or name one with '--profile'"
        case .shared(let key, _, _): return "give each profile a '\(key)' of its own"
        case .wrongValue(_, let wrong): return wrong.hint
        case .notEditable(_, let profile, let lines):
            let place = profile.map { "in profile '\($0)'" } ?? "at the top"
            return "write there yourself, \(place): \(lines.joined(separator: "; "))"
        case .changedMeanwhile: return "try again"
        }
    }
}

/// A fault in a configuration, and its place.
struct ConfigurationFault: Equatable, CustomStringConvertible {
    var file: String
    /// From 1 on.
    var line: Int
    var reason: String
    var hint: String?

    var description: String { "\(file):\(line): \(reason)" }
}
