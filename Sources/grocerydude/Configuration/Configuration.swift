internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import SystemPackage

/// The layers of settings, and the profiles that they make.
///
/// Each setting is resolved separately. A flag overrides the environment, which overrides the configuration's profile,
/// its common settings, and the defaults. A configuration or a profile that cannot be used is a `ConfigurationError`.
struct Configuration {
    /// The files that were read.
    let files: ConfigurationFiles
    /// The merged files; `nil` if there are none, which is equivalent to an empty one.
    let file: ConfigurationFile?
    /// The profile that flags or the environment name.
    private let chosen: String?

    /// Reads the configuration named by flags or the environment, or the default one if it exists.
    init(_ options: ConfigurationOptions) throws {
        try Self.refuseMisspeltVariables()
        try self.init(ConfigurationFiles(options), profile: options.chosenProfile)
    }

    /// Refuses variables that have almost the name of one of this program's.
    private static func refuseMisspeltVariables() throws {
        let prefix = "GROCERYDUDE_"
        let given = ProcessEnvironment.names.filter { $0.hasPrefix(prefix) }
        if given.isEmpty { return }
        let own = Setting.all.compactMap(\.environment)
        // The last ones are those of hooks, in which the program may run.
        let others = [
            "CONFIG", "PROFILE", "PASSWORD", "EVENT", "COMMAND", "BACKUP", "STORE", "CHANGES",
            "EXIT_CODE", "ERROR",
        ]
        let known = (own.map { String($0.dropFirst(prefix.count)) } + others).sorted()
        for name in given {
            let rest = String(name.dropFirst(prefix.count))
            guard !known.contains(rest), let nearest = nearestName(to: rest, among: known) else {
                continue
            }
            throw ConfigurationError.misspeltVariable(name, nearest: prefix + nearest)
        }
    }

    /// Creates a configuration from its files and a profile's name.
    init(_ files: ConfigurationFiles, profile: String?, mayBeEmpty: Bool = false) throws {
        chosen = profile
        self.files = files
        file = try files.merged(mayBeEmpty: mayBeEmpty)
        try refuseShared()
    }

    /// The default path of the configuration.
    static var usualPath: String { ProcessEnvironment.configuration + "/grocerydude/config.yaml" }

    var names: [String] { file?.profiles.map(\.name) ?? [] }

    /// Returns the profile for a run: the named one, or else `default`, or else the only one.
    ///
    /// Without profiles, it has the common settings.
    func profile(_ flags: [FlagValue?]) throws -> Profile {
        guard let file else {
            guard chosen == nil else {
                throw ConfigurationError.noConfiguration(profile: chosen, file: files.path.string)
            }
            return try resolve(nil, flags)
        }
        if let profile = file.profiles.first(where: { $0.name.exact == (chosen ?? "default").exact }
        ) {
            return try resolve(profile, flags)
        }
        if let chosen {
            throw ConfigurationError.noProfile(chosen, file: file.path, names: names)
        }
        guard file.profiles.count < 2 else {
            throw ConfigurationError.whichProfile(file: file.path, names: names)
        }
        return try resolve(file.profiles.first, flags)
    }

    /// Returns all profiles, or the only job of a configuration that names none.
    ///
    /// - Throws: `ConfigurationError`; also if a flag or variable sets one place for all of them.
    func allProfiles(_ flags: [FlagValue?]) throws -> [Profile] {
        guard let file else {
            throw ConfigurationError.noConfiguration(profile: nil, file: files.path.string)
        }
        guard !file.profiles.isEmpty else { return [try resolve(nil, flags)] }
        let profiles = try file.profiles.map { try resolve($0, flags) }
        for key in ["stores", "remote", "origin"] {
            switch profiles.first?.origin(of: key) {
            case .flag(let name), .environment(let name):
                throw ConfigurationError.notForAll("'\(name)'")
            default: continue
            }
        }
        return profiles
    }

    /// Returns the remote folders of all profiles.
    func remotes() throws -> [String] {
        try (file?.profiles ?? []).map { try resolve($0, []).remote }
    }

    /// Finds faults that a run finds only in its own profile, each by the function that the run calls.
    ///
    /// - Parameters:
    ///   - date: the current time.
    ///   - console: shows warnings about files of keys.
    /// - Returns: the reasons why profiles make no backups.
    /// - Throws: `ConfigurationError.exposed` for a file that others may change; `ScheduleError.over`.
    func validate(at date: Date, on console: Console) throws -> [ConfigurationError] {
        var faults: [ConfigurationError] = []
        for named in [nil] + (file?.profiles ?? []).map(Optional.some) {
            let profile = try resolve(named, [])
            let schedules = [profile.schedule, profile.check.schedule, profile.sync.schedule]
            for case let schedule? in schedules where schedule.isOver(at: date) {
                throw ScheduleError.over(schedule)
            }
            // A run uses the common settings alone only if there are no profiles.
            guard named != nil || names.isEmpty else { continue }
            do {
                try profile.refuseUseless(on: console)
            } catch {
                faults.append(.useless(profile: profile.name, error))
            }
        }
        return faults
    }

    /// Refuses profiles that would hide, prune or restore each other's backups.
    ///
    /// Profiles of different stores must not have the same metrics file or origin, nor profiles of one origin keep
    /// other backups in one folder.
    private func refuseShared() throws {
        let policy = Setting.all.map(\.key).filter { $0.hasPrefix("retention.keep_") }
        let profiles: [Profile] =
            try file?.profiles.map {
                try configured($0, Profile(name: $0.name), also: ["prune"] + policy)
            } ?? []
        for (index, profile) in profiles.enumerated() {
            for other in profiles[..<index] {
                let names = [other, profile].compactMap(\.name)
                guard !Self.isSame(other.stores.string, profile.stores.string) else {
                    guard profile.prunes || other.prunes, profile.retention != other.retention,
                        !profile.retention.isEmpty, !other.retention.isEmpty,
                        Self.isSame(other.remote, profile.remote),
                        profile.originName == other.originName
                    else { continue }
                    throw ConfigurationError.sharedFolder(profile.remote, names: names)
                }
                if let one = other.metricsFile?.string, let value = profile.metricsFile?.string,
                    Self.isSame(one, value)
                {
                    throw ConfigurationError.shared("metrics_file", value, names: names)
                }
                if let origin = profile.originName, origin == other.originName {
                    throw ConfigurationError.shared("origin", origin, names: names)
                }
            }
        }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        FilePath(one).lexicallyNormalized() == FilePath(other).lexicallyNormalized()
    }

    private func resolve(
        _ named: (name: String, values: ConfigurationFile.Values)?,
        _ flags: [FlagValue?]
    ) throws -> Profile {
        let settings = Setting.all
        try refuseUnknown(flags, settings)
        var profile = Profile(name: named?.name, file: file?.path)
        for setting in settings {
            guard let value = try value(of: setting, named?.values, flags) else { continue }
            do {
                try setting.read(value, &profile)
            } catch let error as WrongValue {
                // The values in files were read before without a fault.
                throw ConfigurationError.wrongValue(value.origin.description, error)
            }
            profile.origins[setting.key] = value.origin
        }
        try profile.refuseExposed()
        let configured = try configured(named, profile)
        if configured.stores != profile.stores { profile.configuredStores = configured.stores }
        if configured.remote != profile.remote { profile.configuredRemote = configured.remote }
        return profile
    }

    /// Refuses a flag for a setting that does not exist.
    private func refuseUnknown(_ flags: [FlagValue?], _ settings: [Setting]) throws {
        for case let flag? in flags where !settings.contains(where: { $0.key == flag.key }) {
            let nearest = nearestName(to: flag.key, among: settings.map(\.key))
            let hint = nearest.map { "did you mean '\($0)'?" }
            throw ConfigurationError.wrongValue(
                flag.name,
                WrongValue(
                    reason: "is no setting",
                    hint: hint ?? "run 'grocerydude config show --all' to see them"
                )
            )
        }
    }

    /// Returns a profile with the places from the configuration alone, if it names them.
    private func configured(
        _ named: (name: String, values: ConfigurationFile.Values)?,
        _ profile: Profile,
        also more: [String] = []
    ) throws -> Profile {
        var profile = profile
        let keys = Set(["stores", "remote", "metrics_file", "origin"] + more)
        for setting in Setting.all where keys.contains(setting.key) {
            let value = named?.values[setting.key] ?? file?.common[setting.key]
            if let value { try setting.read(value, &profile) }
        }
        return profile
    }

    /// The settings without which backups would go to the built-in folder, be of other data, or be in plain.
    private static let settingsToName = ["remote", "stores", "recipients"]

    private func value(
        of setting: Setting,
        _ values: ConfigurationFile.Values?,
        _ flags: [FlagValue?]
    ) throws -> WrittenValue? {
        if let flag = flags.compactMap(\.self).last(where: { $0.key == setting.key }) {
            return .said(flag.value, by: .flag(flag.name))
        }
        if let name = setting.environment, let value = ProcessEnvironment.value(name) {
            return .said(value, by: .environment(name))
        }
        if let value = values?[setting.key] ?? file?.common[setting.key] { return value }
        if let name = setting.environment, ProcessEnvironment.isEmpty(name),
            Self.settingsToName.contains(setting.key)
        {
            throw ConfigurationError.emptyVariable(name)
        }
        return nil
    }
}
