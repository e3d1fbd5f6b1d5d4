internal import Files
internal import Foundation
internal import SystemPackage

/// The place in a configuration that defines a profile's remote folder.
///
/// A change is written into the profile's generated piece, or into that of all profiles; other files are never changed.
struct LinkedPlace {
    /// The keys and their new values; `nil` for one that is removed.
    typealias Changes = [(key: String, value: String?)]

    /// The profile; `nil` for the settings of all profiles.
    let profile: String?
    private let files: ConfigurationFiles
    private let merged: ConfigurationFile?

    /// The time to wait for another run that writes.
    private static let lockWait = Duration.seconds(10)

    /// Finds the place for some options.
    ///
    /// - Parameters:
    ///   - options: the options of the command line, to which the environment is added.
    ///   - mayBeMissing: whether the configuration and the profile may be created.
    /// - Throws: `ConfigurationError` if the configuration is invalid, or if none of several profiles is chosen.
    init(_ options: ConfigurationOptions, mayBeMissing: Bool) throws {
        let files = try ConfigurationFiles(options, mayBeMissing: mayBeMissing)
        try self.init(in: files, profile: options.chosenProfile, mayBeMissing: mayBeMissing)
    }

    /// Finds the place in a configuration's files.
    init(in files: ConfigurationFiles, profile chosen: String?, mayBeMissing: Bool) throws {
        self.files = files
        merged = try files.merged(mayBeEmpty: mayBeMissing)
        let names = merged?.profiles.map(\.name) ?? []
        if let chosen {
            guard ConfigurationReader.isName(chosen), mayBeMissing || names.contains(chosen) else {
                throw ConfigurationError.noProfile(chosen, file: files.path.string, names: names)
            }
            profile = chosen
        } else if names.contains("default") {
            profile = "default"
        } else {
            guard names.count < 2 else {
                throw ConfigurationError.whichProfile(file: files.path.string, names: names)
            }
            // Without a name, a second profile would take the place of the first for commands without a choice.
            let isUnnamed = !mayBeMissing || merged?.common["remote"] != nil
            profile = names.first ?? (isUnnamed ? nil : "default")
        }
    }

    /// Whether the configuration does not have the profile yet.
    var isNew: Bool {
        profile.map { name in merged?.profiles.contains { $0.name == name } != true } ?? false
    }

    /// The remote folder of a configuration without profiles, to which a first profile gives a name; `nil` if a profile
    /// has one already.
    var unnamed: String? {
        get throws {
            guard isNew, profile != "default", profilesCount == 0 else { return nil }
            return try remote?.address
        }
    }

    /// The number of profiles in the configuration.
    var profilesCount: Int { merged?.profiles.count ?? 0 }

    /// The configured remote folder, whether the profile itself defines it, and its origin.
    var remote: (address: String, isOwn: Bool, origin: Origin)? {
        get throws {
            guard let (value, isOwn) = value(of: "remote") else { return nil }
            return (try read("remote").remote, isOwn, value.origin)
        }
    }

    /// The configured stores directory, else the default one.
    var stores: FilePath { get throws { try read("stores").stores } }

    /// The profile's own stores directory; `nil` if none is configured for it.
    var ownStores: FilePath? {
        get throws { value(of: "stores")?.isOwn == true ? try stores : nil }
    }

    /// Returns a setting's value, and whether the profile itself has it.
    private func value(of key: String) -> (value: WrittenValue, isOwn: Bool)? {
        let own = merged?.values(of: profile)?[key]
        return (own ?? merged?.common[key]).map { ($0, profile == nil || own != nil) }
    }

    private func read(_ key: String) throws -> Profile {
        var scratch = Profile()
        if let value = value(of: key)?.value {
            try Setting.all.first { $0.key == key }?.read(value, &scratch)
        }
        return scratch
    }

    /// Returns the path of the generated piece for a profile; `nil` is for all profiles.
    func piece(of profile: String?) -> FilePath {
        files.directory.appending(GeneratedPiece.fileName(of: profile))
    }

    /// The text of the profile's generated piece without secrets; `nil` if there is none.
    var shownPiece: String? {
        get throws {
            let present = try files.piece(piece(of: profile))
            return try GeneratedPiece(of: profile, present?.text, present?.file)?.shown.text
        }
    }

    /// Returns the text of a generated piece after some changes; `nil` if nothing is left in it.
    ///
    /// - Throws: `ConfigurationError.handwritten` if a person's file decides one of the keys; another one if the
    ///   configuration would be invalid.
    @discardableResult
    func text(with changes: Changes, in profile: String?) throws -> String? {
        let path = piece(of: profile)
        let present = try files.piece(path)
        guard var piece = try GeneratedPiece(of: profile, present?.text, present?.file) else {
            let values = present?.file?.values(of: profile)
            let origin = changes.first.flatMap { values?[$0.key]?.origin }
            throw try handwritten(origin?.description ?? path.string, changes, profile)
        }
        for (key, value) in changes { piece.values[key] = value }
        let changed = try files.substituting(path, by: piece.text)
        let values = try Configuration(changed, profile: profile, mayBeEmpty: true).file?
            .values(of: profile)
        for (key, _) in changes {
            guard let origin = values?[key]?.origin, origin.file != path.string else { continue }
            throw try handwritten(origin.description, changes, profile)
        }
        return try piece.text
    }

    private func handwritten(
        _ place: String,
        _ changes: Changes,
        _ profile: String?
    ) throws -> ConfigurationError {
        let steps = try changes.map { key, value in
            try value.map { try "write '\(GeneratedPiece.line(key, $0))'" }
                // A scheduled backup without a folder would go to the built-in one.
                ?? "\(key == "remote" ? "run 'grocerydude schedule remove', then " : "")remove '\(key)'"
        }
        return .handwritten(place, profile: profile, steps: steps)
    }

    /// Writes or removes a generated piece, so that it has some changes.
    ///
    /// A new piece has the mode of the own file.
    ///
    /// - Throws: see `text(with:in:)`; `ConfigurationError.changedMeanwhile`, `FileError`; the configuration does not
    ///   change then.
    func write(_ changes: Changes, in profile: String?) async throws {
        let path = piece(of: profile)
        let ownMode = try FileInfo.ifPresent(files.path).map { _ in
            try FileInfo(of: files.path.resolved()).mode & 0o777
        }
        try makeDirectory(ownMode)
        try await FileLock.withLock(on: files.directory, wait: Self.lockWait) {
            let now = try LinkedPlace(
                in: ConfigurationFiles(named: files.path.string, mayBeMissing: true),
                profile: self.profile,
                mayBeMissing: true
            )
            guard try now.files.piece(path)?.text == files.piece(path)?.text else {
                throw ConfigurationError.changedMeanwhile(path.string)
            }
            let system = LocalFileSystem()
            guard let text = try now.text(with: changes, in: profile) else {
                try system.remove(path)
                return try system.sync(files.directory)
            }
            // A link is kept, and its target is replaced.
            let target = try FileInfo.ifPresent(path) == nil ? path : path.resolved()
            let mode = try FileInfo.ifPresent(target).map { $0.mode & 0o777 } ?? ownMode ?? 0o600
            try system.write(Array(text.utf8), to: target, mode: mode)
        }
    }

    /// Creates the directory of the pieces, which those may list who may read the own file.
    private func makeDirectory(_ mode: UInt16?) throws {
        guard try FileInfo.ifPresent(files.directory) == nil else { return }
        try LocalFileSystem().createDirectories(files.directory)
        let readers = (mode ?? 0) & 0o044
        guard readers != 0 else { return }
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700 | readers | readers >> 2],
            ofItemAtPath: files.directory.string
        )
    }
}
