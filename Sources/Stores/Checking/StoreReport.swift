public import Files

/// The result of reading a snapshot.
public struct StoreReport: Sendable {
    public var facts: StoreFacts
    /// The damage, in SQLite's words.
    public var damage: [String]
    /// The findings that are no damage.
    public var remarks: [StoreFinding] = []
    /// The names of the files of external data that its rows refer to.
    public var externalReferences: Set<String>

    /// The files named in columns that the user chose, as paths below the stores directory.
    public var externalFiles: Set<RelativePath> = []
    /// The reasons why such files are unknown.
    public var unknownFiles: [String] = []
    /// The values of such columns that name no file there.
    public var otherValues: [String] = []

    public init(facts: StoreFacts, damage: [String], externalReferences: Set<String>) {
        self.facts = facts
        self.damage = damage
        self.externalReferences = externalReferences
    }

    /// Creates the report of a snapshot whose tables cannot be listed.
    public init(unreadable snapshot: StoreSnapshot, since error: StoreError) {
        facts = StoreFacts(
            path: snapshot.path.description,
            pageSize: snapshot.pageSize,
            pageCount: snapshot.pageCount,
            journalMode: "delete",
            userVersion: 0,
            applicationID: 0,
            kind: .sqlite,
            tables: []
        )
        damage = [error.description]
        externalReferences = []
    }

    /// Adds the findings of a check; see `StoreFinding.isDamage(isStrict:)`.
    public mutating func add(_ findings: [StoreFinding], isStrict: Bool) {
        for finding in findings {
            if !finding.isDamage(isStrict: isStrict) {
                if !remarks.contains(finding) { remarks.append(finding) }
            } else if !damage.contains(finding.description) {
                damage.append(finding.description)
            }
        }
    }
}
