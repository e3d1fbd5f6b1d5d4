internal import Changes
public import Files

/// The outcome of an exchange.
public struct ExchangeOutcome: Sendable {
    /// Whether the container was there.
    public var hasContainer = true
    /// The error of the container, if it failed: at once, or after something was exchanged.
    public var trouble: (any ExplainedError)?
    /// The reason why the container accepts no files, although it is there.
    var refusal: (any ExplainedError)?
    /// The number of rows whose view was computed.
    var looked = 0
    /// Whether the changes that arrived were left for a later run; see `StoreExchange.Options.reserve`.
    public var isPutOff = false
    public var inserted = 0
    public var updated = 0
    public var deleted = 0
    /// The number of deleted rows among them that are only not shown here.
    public var hidden = 0
    var sent = Publication.Sent()
    var taken = Intake.Taken()

    public init() {}

    /// The number of changes of rows that were sent.
    public var sentChanges: Int64 { sent.changes }
    public var sentFiles: Int { sent.files }
    /// The number of bytes that were sent.
    public var sentBytes: Int64 { sent.bytes }
    /// The number of changes of rows that were taken.
    public var takenChanges: Int64 { taken.changes }
    public var takenFiles: Int { taken.files }
    /// The number of bytes that were taken.
    public var takenBytes: Int64 { taken.bytes }

    /// The number of rows of the store that were written.
    var written: Int { inserted + updated + deleted }

    /// Counts the steps of a plan that is not written.
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

extension ExchangeOutcome {
    /// The ids of the devices whose files were taken.
    public var takenDevices: [String] { taken.devices.map(\.description).sorted() }
}
