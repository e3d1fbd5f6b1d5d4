/// The outcome of a look at a snapshot.
public struct StoreReport: Sendable {
    public var facts: StoreFacts
    /// The damage, in SQLite's words.
    public var damage: [String]
    /// Findings that are no damage.
    public var remarks: [StoreFinding] = []
    /// The names that its rows give to files of external data.
    public var externalReferences: Set<String>

    public init(facts: StoreFacts, damage: [String], externalReferences: Set<String>) {
        self.facts = facts
        self.damage = damage
        self.externalReferences = externalReferences
    }

    /// Adds what a check found; see `StoreFinding.isDamage(isStrict:)`.
    public mutating func add(_ findings: [StoreFinding], isStrict: Bool) {
        for finding in findings {
            if !finding.isDamage(isStrict: isStrict) {
                remarks.append(finding)
            } else if !damage.contains(finding.description) {
                damage.append(finding.description)
            }
        }
    }
}
