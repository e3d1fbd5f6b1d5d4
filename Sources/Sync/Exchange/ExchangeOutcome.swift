public import Files

/// What an exchange did.
public struct ExchangeOutcome: Sendable {
    /// Whether the container was there.
    public var hasContainer = true
    /// How the container failed, if it did: at once, or after something was exchanged.
    public var trouble: (any ExplainedError)?
    /// Why the container took nothing, though it is there.
    var refusal: (any ExplainedError)?
    /// The rows that the views were computed of.
    var looked = 0
    /// Whether what arrived was left for a later run; see `StoreExchange.Options.reserve`.
    public var isPutOff = false
    public var inserted = 0
    public var updated = 0
    public var deleted = 0
    var sent = Publication.Sent()
    var taken = Intake.Taken()

    public init() {}

    /// Changes of rows that were sent.
    public var sentChanges: Int64 { sent.changes }
    public var sentFiles: Int { sent.files }
    /// Bytes.
    public var sentBytes: Int64 { sent.bytes }
    /// Changes of rows that were taken.
    public var takenChanges: Int64 { taken.changes }
    public var takenFiles: Int { taken.files }
    /// Bytes.
    public var takenBytes: Int64 { taken.bytes }

    /// Rows of the store that were written.
    var written: Int { inserted + updated + deleted }

    /// Counts what would be written.
    mutating func count(_ steps: [WritePlan.Step]) {
        for step in steps {
            switch step.change {
            case .insert: inserted += 1
            case .update: updated += 1
            case .delete: deleted += 1
            }
        }
    }

    /// Whether nothing was exchanged, and nothing written.
    public var isQuiet: Bool {
        sent.files == 0 && taken.files == 0 && inserted + updated + deleted == 0
    }
}
