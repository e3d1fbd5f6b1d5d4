internal import Foundation
internal import SystemPackage

/// The layers that settings come from, and the profiles that they make.
///
/// A flag wins over the environment, the environment over the configuration's profile, that over
/// what the configuration says for all, and that over what is built in; each setting by itself.
/// A configuration or a profile that cannot be used is a `ConfigurationError`.
struct Configuration {
    /// The configuration's file; `nil` if there is none, which is the same as an empty one.
    let file: ConfigurationFile?
    /// The profile that flags or the environment name.
    private let chosen: String?
    /// The path of the configuration, whether it is there or not.
    private let path: String

    /// Reads the configuration that flags or the environment name, or the usual one if it is there.
    init(_ options: ConfigurationOptions) throws {
        chosen = options.chosenProfile
        if let named = options.configuration ?? ProcessEnvironment.value("GROCERYDUDE_CONFIG") {
            self.path = named
            file = try ConfigurationFile(named)
        } else {
            self.path = Self.usualPath
            // A link to nowhere is not "no configuration".
            let isThere = (try? FileManager.default.attributesOfItem(atPath: self.path)) != nil
            file = isThere ? try ConfigurationFile(self.path) : nil
        }
        try refuseSharedPlaces()
    }

    /// Takes a configuration that was read, and has a profile chosen.
    init(_ file: ConfigurationFile?, path: String, profile: String?) throws {
        chosen = profile
        self.path = path
        self.file = file
        try refuseSharedPlaces()
    }

    /// The path of the configuration, unless another is named.
    static var usualPath: String { ProcessEnvironment.configuration + "/grocerydude/config.yaml" }

    var names: [String] { file?.profiles.map(\.name) ?? [] }

    /// Returns the profile for a run: the one that is named, else `default`, else the only one.
    ///
    /// If there are no profiles, it has the settings for all of them.
    func profile(_ flags: [FlagValue?]) throws -> Profile {
        guard let file else {
            guard chosen == nil else {
                throw ConfigurationError.noConfiguration(profile: chosen, file: path)
            }
            return try resolve(nil, flags)
        }
        if let profile = file.profiles.first(where: { $0.name == chosen ?? "default" }) {
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

    /// Returns all profiles; throws if there are none, or if one place is named for all of them.
    func allProfiles(_ flags: [FlagValue?]) throws -> [Profile] {
        guard let file, !file.profiles.isEmpty else {
            throw ConfigurationError.noConfiguration(profile: nil, file: file?.path ?? path)
        }
        let profiles = try file.profiles.map { try resolve($0, flags) }
        for key in ["stores", "remote"] {
            switch profiles.first?.origin(of: key) {
            case .flag(let name), .environment(let name):
                throw ConfigurationError.notForAll("'\(name)'")
            default: continue
            }
        }
        return profiles
    }

    /// Refuses profiles with different stores that have one place for what is theirs alone.
    ///
    /// Backups carry no profile's name: what one profile prunes, or restores as the latest, would be the
    /// other's. And a file of metrics is written whole: it would tell of one and hide the other.
    private func refuseSharedPlaces() throws {
        let profiles = try file?.profiles.map { try configured($0, Profile(name: $0.name)) } ?? []
        for (index, profile) in profiles.enumerated() {
            for other in profiles[..<index]
            where !Self.isSame(other.stores.string, profile.stores.string) {
                let places = [
                    ("remote", other.remote, profile.remote),
                    ("metrics_file", other.metricsFile?.string, profile.metricsFile?.string),
                ]
                for case (let key, let one?, let value?) in places where Self.isSame(one, value) {
                    let names = [other, profile].compactMap(\.name)
                    throw ConfigurationError.shared(key: key, value: value, names: names)
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
        var profile = Profile(name: named?.name, file: file?.path)
        for setting in Setting.all {
            guard let value = value(of: setting, named?.values, flags) else { continue }
            do {
                try setting.read(value, &profile)
            } catch let error as WrongValue {
                // Values in files were read before, without a fault.
                throw ConfigurationError.wrongValue(value.origin.description, error)
            }
            profile.origins[setting.key] = value.origin
        }
        let configured = try configured(named, profile)
        if configured.stores != profile.stores { profile.configuredStores = configured.stores }
        if configured.remote != profile.remote { profile.configuredRemote = configured.remote }
        return profile
    }

    /// Returns a profile with the places of the configuration alone, if it names them.
    private func configured(
        _ named: (name: String, values: ConfigurationFile.Values)?,
        _ profile: Profile
    ) throws -> Profile {
        var profile = profile
        let keys: Set = ["stores", "remote", "metrics_file"]
        for setting in Setting.all where keys.contains(setting.key) {
            let value = named?.values[setting.key] ?? file?.common[setting.key]
            if let value { try setting.read(value, &profile) }
        }
        return profile
    }

    private func value(
        of setting: Setting,
        _ values: ConfigurationFile.Values?,
        _ flags: [FlagValue?]
    ) -> WrittenValue? {
        if let flag = flags.compactMap(\.self).last(where: { $0.key == setting.key }) {
            return .said(flag.value, by: .flag(flag.name))
        }
        if let name = setting.environment, let value = ProcessEnvironment.value(name) {
            return .said(value, by: .environment(name))
        }
        return values?[setting.key] ?? file?.common[setting.key]
    }
}
