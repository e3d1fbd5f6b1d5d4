internal import Files
internal import Foundation
internal import SystemPackage

/// The configuration that says which remote folder a profile has, and where it says so.
struct LinkedPlace {
    /// The configuration's absolute path, whether it is there or not.
    let path: String
    /// The profile; `nil` for the top.
    let profile: String?
    private let file: ConfigurationFile?
    /// The text that `file` was read from.
    private let text: String

    /// Finds the place that options mean.
    ///
    /// - Parameters:
    ///   - options: those of the command line; the environment is added.
    ///   - mayBeMissing: whether the configuration and the profile may be made.
    /// - Throws: `ConfigurationError` if the configuration is invalid, or no profile of several is chosen.
    init(_ options: ConfigurationOptions, mayBeMissing: Bool) throws {
        try self.init(
            named: options.configuration ?? ProcessEnvironment.value("GROCERYDUDE_CONFIG"),
            profile: options.chosenProfile,
            mayBeMissing: mayBeMissing
        )
    }

    /// Finds the place in a configuration that is named, or the usual one.
    init(named: String?, profile chosen: String?, mayBeMissing: Bool) throws {
        let path = FilePath(FileManager.default.currentDirectoryPath)
            .pushing(FilePath(named ?? Configuration.usualPath)).lexicallyNormalized()
        self.path = path.string
        let isThere = (try? FileManager.default.attributesOfItem(atPath: path.string)) != nil
        text = isThere || !mayBeMissing && named != nil ? try ConfigurationFile.text(of: path) : ""
        file = Self.isEmpty(text) ? nil : try ConfigurationFile(path.string, text: text)
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

    /// Returns whether a text has nothing but comments.
    private static func isEmpty(_ text: String) -> Bool {
        do {
            return try ConfigurationEdit.root(of: text) == nil
        } catch {
            // Whoever reads it says what is wrong.
            return false
        }
    }

    /// How many profiles the configuration has.
    var profilesCount: Int { file?.profiles.count ?? 0 }

    private var own: ConfigurationFile.Values? {
        file?.profiles.first { $0.name == profile }?.values
    }

    /// The remote folder that it says, and whether the profile says so itself.
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

    /// Changes some keys in the configuration's text, or takes them away for `nil`.
    ///
    /// - Parameters:
    ///   - changes: the keys and what they are to be.
    ///   - profile: where they stand; `nil` for the top.
    /// - Returns: the text, which nobody has written yet.
    /// - Throws: `ConfigurationError.notEditable` if that cannot be done safely; another one if the
    ///   configuration would be invalid.
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
        let changed = try ConfigurationFile(path, text: edit.text)
        _ = try Configuration(changed, path: path, profile: profile)
        return edit.text
    }

    /// Puts a text in the place of the configuration's, whole or not at all; its mode stays.
    ///
    /// - Throws: `ConfigurationError.changedMeanwhile`, `FileError`; it is then as it was.
    func write(_ changed: String) throws {
        var target = FilePath(path)
        var mode: UInt16 = 0o600
        if try FileInfo.ifPresent(target) != nil {
            // A link stays one.
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
