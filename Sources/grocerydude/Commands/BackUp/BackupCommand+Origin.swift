internal import Age
internal import Backups
internal import Files

extension BackupCommand {
    /// Asks, before the first backup of a new system or with a new key, whether to continue the backups of before.
    ///
    /// - Returns: the run that continues them: the configuration has their name as its origin from then on, and their
    ///   key is trusted; the same run if there is nothing to ask, nobody to answer, or the answer is no. And whether the
    ///   answer is no.
    func continuing(_ invocation: Invocation) async throws -> (Invocation, isDeclined: Bool) {
        let (console, profile) = (invocation.console, invocation.profile)
        guard console.canAsk else { return (invocation, false) }
        let folder = try invocation.folder()
        guard !folder.knowsOwn || invocation.knowsNobody,
            // A folder that cannot be reached is reported by the backup.
            let backups = try? await folder.list().backups,
            let last = Predecessor(in: folder, among: backups)
        else { return (invocation, false) }
        let (name, key) = (last.name, last.key)
        let setting = last.isOther ? Self.setting(of: profile) : nil
        guard last.isOther ? setting != nil : key != nil else {
            return (invocation, false)
        }
        let signer = key.map { ", signed by another key, \($0.fingerprint)" } ?? ""
        let effects = [
            setting.map { "sets 'origin' in '\($0.piece(of: $0.profile))'" },
            key.map { _ in "trusts the key" },
        ]
        let isAgreed = console.ask(
            """
            There are backups of '\(printable(bytes: name.utf8))' from before, the newest \
            '\(last.backup.displayName)'\(signer). Continue them? \
            This \(effects.compactMap(\.self).joined(separator: " and ")).
            """
        )
        try Interruption.check()
        guard isAgreed else { return (invocation, true) }
        var continued = profile
        if let setting {
            try await setting.write([("origin", name)], in: setting.profile)
            continued.originName = name
        }
        if let key { try KeyRing.trust(key, as: name) }
        return (Invocation(continued, console), false)
    }

    /// Returns the place for a profile's `origin`, if the configuration names its directories, and no origin yet.
    private static func setting(of profile: Profile) -> LinkedPlace? {
        guard profile.originName == nil, let file = profile.file,
            case .file = profile.origin(of: "stores"), case .file = profile.origin(of: "remote")
        else { return nil }
        return try? LinkedPlace(
            in: ConfigurationFiles(named: file),
            profile: profile.name,
            mayBeMissing: false
        )
    }
}
