internal import Files
internal import Foundation
internal import SystemPackage

/// The place in a configuration that defines a profile's remote folder.
struct LinkedPlace {
    /// The configuration's absolute path, which may not exist.
    let path: String
    /// The profile; `nil` for the top level.
    let profile: String?
    private let files: ConfigurationFiles
    private let file: ConfigurationFile?
    /// The text of the own file.
    private let text: String

    /// Finds the place for some options.
    ///
    /// - Parameters:
    ///   - options: the options of the command line, to which the environment is added.
    ///   - mayBeMissing: whether the configuration and the profile may be created.
    /// - Throws: `ConfigurationError` if the configuration is invalid, or if none of several profiles is chosen.
    init(_ options: ConfigurationOptions, mayBeMissing: Bool) throws {
        try self.init(
            named: options.configuration ?? ProcessEnvironment.value("GROCERYDUDE_CONFIG"),
            profile: options.chosenProfile,
            mayBeMissing: mayBeMissing
        )
    }

    /// Finds the place in a named configuration, or in the default one.
    init(named: String?, profile chosen: String?, mayBeMissing: Bool) throws {
        files = try ConfigurationFiles(named: named, mayBeMissing: mayBeMissing)
        let path = files.path
        self.path = path.string
        text = files.own ?? ""
        file = try files.merged(mayBeEmpty: mayBeMissing)
        let names = file?.profiles.map(\.name) ?? []
        if let chosen {
            guard ConfigurationReader.isName(chosen), mayBeMissing || names.contains(chosen) else {
                throw ConfigurationError.noProfile(chosen, file: path.string, names: names)
            }
            profile = chosen
        } else if names.contains("default") {
            profile = "default"
        } else {
            guard names.count < 2 else {
                throw ConfigurationError.whichProfile(file: path.string, names: names)
            }
            profile = names.first
        }
    }

    /// The number of profiles in the configuration.
    var profilesCount: Int { file?.profiles.count ?? 0 }

    private var own: ConfigurationFile.Values? {
        file?.profiles.first { $0.name.exact == profile?.exact }?.values
    }

    /// The configured remote folder, and whether the profile itself defines it.
    var remote: (address: String, isOwn: Bool)? {
        get throws {
            let value = own?["remote"] ?? file?.common["remote"]
            guard let value, let setting = Setting.all.first(where: { $0.key == "remote" })
            else { return nil }
            var scratch = Profile()
            try setting.read(value, &scratch)
            return (scratch.remote, profile == nil || own?["remote"] != nil)
        }
    }

    /// Returns the configuration's text with some keys changed, or removed for `nil`.
    ///
    /// - Parameters:
    ///   - changes: the keys and their new values.
    ///   - profile: the profile of the keys; `nil` for the top level.
    /// - Returns: the text, which is not written yet.
    /// - Throws: `ConfigurationError.notEditable` if the change is not safe; another one if the configuration would be
    ///   invalid.
    func text(
        with changes: [(key: String, value: String?)],
        in profile: String?
    ) throws -> String {
        var edit = ConfigurationEdit(text)
        do {
            for (key, value) in changes {
                if let value {
                    try edit.set(key, to: value, in: profile)
                } else {
                    try edit.remove(key, from: profile)
                }
            }
        } catch is ConfigurationEdit.Refused {
            let lines = changes.map { key, value in
                value.map { "\(key): \(ConfigurationEdit.written($0))" } ?? "no '\(key)'"
            }
            throw ConfigurationError.notEditable(path, profile: profile, lines: lines)
        }
        _ = try Configuration(files.replacingOwn(by: edit.text), profile: profile)
        return edit.text
    }

    /// Replaces the configuration atomically by a text, and keeps its mode.
    ///
    /// - Throws: `ConfigurationError.changedMeanwhile`, `FileError`; the configuration does not change then.
    func write(_ changed: String) throws {
        var target = FilePath(path)
        var mode: UInt16 = 0o600
        if try FileInfo.ifPresent(target) != nil {
            // A link is kept, and its target is replaced.
            target = try target.resolved()
            mode = try FileInfo(of: target).mode & 0o777
            guard try ConfigurationFile.text(of: target) == text else {
                throw ConfigurationError.changedMeanwhile(path)
            }
        } else {
            try LocalFileSystem().createDirectories(target.removingLastComponent())
        }
        try LocalFileSystem().write(Array(changed.utf8), to: target, mode: mode)
    }
}
