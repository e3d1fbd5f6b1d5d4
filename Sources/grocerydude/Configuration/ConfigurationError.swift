internal import Files
internal import Operations

/// An error that keeps a configuration, or the wanted profile, from being used.
enum ConfigurationError: ExplainedError {
    /// The file cannot be read.
    case unreadable(String, reason: String, hint: String?)
    /// The file has faults, at least one.
    case invalid([ConfigurationFault])
    case noProfile(String, file: String, names: [String])
    /// A profile is named, but there is no configuration.
    case noConfiguration(profile: String?, file: String)
    /// The configuration has profiles, but none is chosen.
    case whichProfile(file: String, names: [String])
    /// A single place is given for all profiles.
    case notForAll(String)
    /// Profiles of different stores share the value of a setting that must be unique.
    case shared(String, String, names: [String])
    /// Profiles of the same stores keep different backups in one folder.
    case sharedFolder(String, names: [String])
    /// A flag or an environment variable has an invalid value.
    case wrongValue(String, WrongValue)
    /// A variable of this program is set, and empty.
    case emptyVariable(String)
    /// A variable has almost the name of one of this program.
    case misspeltVariable(String, nearest: String)
    /// A person's file, or a piece that a person has changed, decides a setting; its place, and what to do there.
    case handwritten(String, profile: String?, steps: [String])
    /// Others have changed a piece since it was read.
    case changedMeanwhile(String)
    /// Other users can change the configuration, or a file that it names.
    case exposed(String, Exposure)
    /// With its settings, a profile makes no backups.
    case useless(profile: String?, any Error)

    var outcome: FailureOutcome {
        if case .useless(_, let error) = self { FailureOutcome(of: error) } else { .usage }
    }

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
        case .whichProfile(let file, _): "no profile of '\(file)' is chosen"
        case .notForAll(let name): "\(name) would be the same for all profiles"
        case .shared(let key, let value, let names):
            "the profiles \(names.map { "'\($0)'" }.joined(separator: " and ")) have different stores but the same '\(key)': '\(value)'"
        case .sharedFolder(let address, let names):
            "the profiles \(names.map { "'\($0)'" }.joined(separator: " and ")) would remove each other's backups: they keep different ones of the same stores in '\(address)'"
        case .wrongValue(let name, let wrong): "\(name) \(wrong.reason)"
        case .emptyVariable(let name): "the variable \(name) is set, and empty"
        case .misspeltVariable(let name, _): "there is no variable \(name)"
        case .handwritten(let place, _, _):
            "the configuration was not changed: '\(place)' was written by hand"
        case .changedMeanwhile(let path):
            "the configuration '\(path)' was not changed: somebody else has changed it meanwhile"
        case .exposed(let what, let exposure): "\(what) is refused: \(exposure)"
        case .useless(let profile, let error):
            "\(profile.map { "the profile '\($0)' makes" } ?? "the configuration makes") no backups: \(explain(error))"
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
            return
                "say which: \(names.map { Advice.quoted(Advice.option("profile", $0)) }.joined(separator: ", "))"
        case .notForAll: return "set it in each profile, or name one with '--profile'"
        case .shared(let key, _, _): return "give each profile a '\(key)' of its own"
        case .sharedFolder: return "give each profile a 'remote' or an 'origin' of its own"
        case .wrongValue(_, let wrong): return wrong.hint
        case .emptyVariable(let name): return "give it a value, or run 'unset \(name)'"
        case .misspeltVariable(let name, let nearest):
            return "did you mean \(nearest)? if not, run 'unset \(name)'"
        case .handwritten(_, let profile, let steps):
            let place = profile.map { "in profile '\($0)'" } ?? "at the top"
            return "there, \(place), \(steps.joined(separator: " and "))"
        case .changedMeanwhile: return "try again"
        case .exposed(_, let exposure): return Self.hint(exposure)
        case .useless(_, OperationError.keepsNothing):
            return "say what to keep, for example 'retention: {keep_daily: 7, keep_weekly: 5}'"
        case .useless(_, let error): return Advice.after(error)
        }
    }
}

extension ConfigurationError {
    /// Returns the way to keep others from changing a file.
    private static func hint(_ exposure: Exposure) -> String {
        let path = shellWord(exposure.path)
        switch exposure.reason {
        case .group, .everybody: return "remove that permission: chmod go-w \(path)"
        case .owner where exposure.isDirectory:
            return "run it as that user, or keep the file where only root may write"
        case .owner: return "run it as that user, or make the file root's: chown root \(path)"
        }
    }
}

/// A fault in a configuration, with its place.
struct ConfigurationFault: Equatable, CustomStringConvertible {
    var file: String
    /// The line number, from 1.
    var line: Int
    var reason: String
    var hint: String?

    var description: String { "\(file):\(line): \(reason)" }
}
