internal import Age
internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import SystemPackage

/// The machine and the profile that a setup is for, as they are; it checks answers against them.
struct SetupSite {
    /// The options for the configuration, with the name of the profile.
    let options: ConfigurationOptions
    /// The profile's place in the configuration.
    let place: LinkedPlace
    /// The settings in force.
    let profile: Profile
    /// The scheduler; `nil` if there is none.
    let kind: ScheduleKind?
    let invocation: Invocation

    /// Finds the profile: the chosen one, or the one that commands use without a choice, or else a new 'default'.
    ///
    /// - Throws: `ConfigurationError`.
    init(
        _ stores: StoresOptions,
        _ kind: ScheduleKind?,
        _ console: Console
    ) throws {
        var options = stores.configuration
        let place = try LinkedPlace(options, mayBeMissing: true)
        options.profile = place.profile
        let configuration = try Configuration(
            ConfigurationFiles(options, mayBeMissing: true),
            profile: place.profile,
            mayBeEmpty: true
        )
        profile = place.isNew ? Profile(name: place.profile) : try configuration.profile([])
        self.options = options
        self.place = place
        self.kind = try kind ?? Self.scheduler
        invocation = Invocation(profile, console)
    }

    private static var scheduler: ScheduleKind? {
        get throws {
            do { return try .detected() } catch ScheduleError.noKind { return nil }
        }
    }

    /// The linked folder's address; `nil` if there is none.
    var linked: String? {
        get throws { try place.remote.map { invocation.place($0.address) } }
    }

    /// Whether keys of this machine open the encrypted backups that it makes, or will.
    var opensBackups: Bool {
        get throws {
            let present = profile.keys.recipients
            guard !present.isEmpty, present != [KeySettings.passwordWord] else { return true }
            let keys = invocation.keyRing
            let own = Set(try keys.identities().map(\.recipient.description))
            return try keys.recipients().contains { own.contains($0.description) }
        }
    }

    /// Returns whether this program decides a setting, since nobody else has set it.
    func owns(_ key: String) -> Bool {
        let origin = profile.origin(of: key)
        return origin == .default || origin.file == place.piece(of: place.profile).string
    }

    /// Looks at a stores directory.
    ///
    /// - Throws: see `StoresProbe`; `SetupError.noAnswer`.
    func stores(_ text: String) throws -> StoresProbe {
        guard !text.isEmpty else { throw SetupError.noAnswer }
        let path = invocation.absolute(FilePath(Self.expanded(text)))
        return try StoresProbe(of: path, invocation.context)
    }

    /// Tries a folder out if it exists; it is made only later.
    ///
    /// - Returns: the folder as `link` takes it, its absolute address, and facts and doubts for people.
    /// - Throws: `SetupError`, `CommandError`, `LinkError`, `RemoteError`, `FileError`, `OperationError`.
    func folder(
        _ text: String,
        for stores: FilePath
    ) async throws -> (text: String, address: String, facts: [String]) {
        guard !text.isEmpty else { throw SetupError.noAnswer }
        let target = try await LinkTarget(Self.expanded(text), path: LinkCommand.usualPath)
        try await target.configure(on: invocation.console)
        var profile = profile
        profile.stores = stores
        profile.remote = target.address
        profile.origins["remote"] = .flag("the folder")
        let attempt = Invocation(profile, invocation.console)
        let address = attempt.place
        try await attempt.context.refuse(attempt.folder(), in: stores)
        if case .directory(let path) = RemoteAddress(address) {
            try refuseUnmakeable(FilePath(path))
        }
        var facts = ["it will be made"]
        do {
            let listing = try await attempt.folder().list()
            if try linked != address { try refuseOtherData(attempt, listing) }
            facts = try await probe(attempt)
            warnOfLocked(attempt, listing)
        } catch RemoteError.missing {}
        return (address, address, facts)
    }

    /// Warns if no key here opens the backups of a folder, since a new key would not either.
    private func warnOfLocked(_ attempt: Invocation, _ listing: BackupFolder.Listing) {
        let locked = listing.backups.count { $0.isEncrypted && $0.isAnonymous }
        guard locked > 0 else { return }
        attempt.console.warn(
            "\(counted(locked, "encrypted backup is", "encrypted backups are")) in '\(attempt.address)', and no key here opens them: to restore them, first copy their key to '\(printable(KeyRing.usualPath))'"
        )
    }

    private func probe(_ attempt: Invocation) async throws -> [String] {
        let outcome = try await ProbeFolder(
            attempt.folder(),
            now: attempt.now,
            context: attempt.context
        ).run()
        if let error = outcome.error { throw error }
        return outcome.findings.filter { $0.step == .folder || $0.step == .space || $0.isDoubtful }
            .map { "\($0.isDoubtful ? "doubtful: " : "")\($0.what)" }
    }

    /// Refuses a path below something that is no directory, or that this user may not change.
    private func refuseUnmakeable(_ path: FilePath) throws {
        var above = path
        while try FileInfo.ifPresent(above) == nil, above.removeLastComponent() {}
        _ = try Directory.open(above)
        guard above.allowsChanges else {
            throw FileError.failed(.create, path, .permissionDenied)
        }
    }

    /// Refuses a folder with visible names, none of which is a backup's.
    private func refuseOtherData(
        _ attempt: Invocation,
        _ listing: BackupFolder.Listing
    ) throws {
        guard listing.backups.isEmpty else { return }
        let directory = try attempt.folder().remote.directory
        let names =
            try directory.map { try Directory.open($0).names().map(\.description) }
            ?? listing.passedOver.map(\.name)
        let other = names.sorted().first { !$0.hasPrefix(".") && $0 != "lost+found" }
        if let other { throw SetupError.otherData(attempt.address, name: other) }
    }

    /// Returns a path with the home directory in place of `~`, as a shell would.
    private static func expanded(_ text: String) -> String {
        text == "~" || text.hasPrefix("~/") ? ProcessEnvironment.home + text.dropFirst() : text
    }
}
