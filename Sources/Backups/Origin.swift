internal import Files

/// A stores directory of a machine, or its successor; the backups of one origin are one series.
public struct Origin: Sendable, Equatable {
    /// The identity: a hash that reveals neither machine nor path.
    public var id: String
    /// The display name: host and path, unless a person chose another.
    public var name: String
    /// Whether a person chose the name.
    ///
    /// Then all backups with that name are of this origin, no matter what made them.
    public var isNamed: Bool

    public init(id: String, name: String, isNamed: Bool = false) {
        (self.id, self.name, self.isNamed) = (id, name, isNamed)
    }

    /// Returns whether a backup names this origin.
    public func has(_ backup: Backup) -> Bool { isOrigin(backup.origin, backup.originName) }

    /// Returns whether a backup names this origin, or another one with its name, as an earlier system's does.
    func mayContinue(_ backup: Backup) -> Bool {
        has(backup) || backup.originName?.exact == name.exact
    }

    /// Returns whether a backup names another origin.
    public func isOther(than backup: Backup) -> Bool { isOther(backup.origin, backup.originName) }

    /// Returns whether a manifest names another origin.
    package func isOther(_ id: String?, _ name: String?) -> Bool {
        id != nil && !isOrigin(id, name)
    }

    /// Returns whether a backup is of another stores directory of this machine, by their names.
    func isSibling(of backup: Backup) -> Bool {
        func host(_ name: String) -> Substring? {
            name.firstRange(of: ":/").map { name[..<$0.lowerBound] }
        }
        guard isOther(than: backup), let own = host(name), let other = backup.originName else {
            return false
        }
        return host(other) == own
    }

    func isOrigin(_ summary: BackupSummary) -> Bool { isOrigin(summary.origin, summary.originName) }

    /// Returns the backups of this origin among some; if there are none, those of the one that it may continue.
    package func series(among backups: [Backup]) -> [Backup] {
        let own = backups.filter { !isOther(than: $0) }
        if own.contains(where: has) { return own }
        let namesakes = backups.filter { !isOther(than: $0) || mayContinue($0) }
        if namesakes.count > own.count { return namesakes }
        return Set(backups.map { $0.originName ?? $0.origin }).count == 1 ? backups : own
    }

    /// Returns whether a manifest names this origin.
    package func isOrigin(_ id: String?, _ name: String?) -> Bool {
        guard let id else { return false }
        return id == self.id || isNamed && name?.exact == self.name.exact
    }
}
