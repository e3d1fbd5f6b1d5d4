public import Files
public import Sync

/// A part of an enrolment's plan that may be wrong, and that nobody has confirmed.
public enum EnrolmentDoubt: ExplainedError {
    /// The map that was proposed for the store has guesses.
    case guesses(store: String, [MapProposal.Finding])
    /// The store and the group have few tables in common.
    case otherTables(store: String, group: String, JoinPreview)
    /// Rows of the store and of the group differ only in their files.
    case otherFiles(store: String, group: String, rows: Int64)

    public var outcome: FailureOutcome { .needsDecision }

    public var description: String {
        switch self {
        case .guesses(let store, let guesses):
            "the map for '\(store)' has guesses: "
                + guesses.map { "'\($0.subject)' \($0.rule) (\($0.evidence))" }
                .joined(separator: "; ")
        case .otherTables(let store, let group, let join):
            """
            '\(group)' has rows of \(counted(join.there, "table", "tables")): \
            only \(join.shared) of them are in '\(store)'
            """
        case .otherFiles(let store, let group, let rows):
            """
            \(counted(Int(rows), "row", "rows")) of '\(store)' would be there twice: those of '\(group)' name \
            the same files, which are missing here, or are others
            """
        }
    }

    public var hint: String? {
        switch self {
        case .guesses(let store, _):
            """
            leave out '--yes' to confirm them; or write the map with 'grocerydude sync map \
            \(Advice.option("store", store)) > map.json', correct it, and add '--map map.json'
            """
        case .otherTables:
            """
            if they are of one application, say how rows are matched, as with '--match content'; \
            else name another group with '--group NAME'
            """
        case .otherFiles:
            """
            copy the files too; or add '--match copy' if the store was copied from another device, \
            '--match content' if equal rows are one
            """
        }
    }
}

extension EnableSync.Plan {
    /// The first doubt about the plan; `nil` if there is none.
    public var doubt: EnrolmentDoubt? {
        if let guesses = proposal?.guesses, !guesses.isEmpty {
            return .guesses(store: store, guesses)
        }
        if let filesDoubt { return filesDoubt }
        return match == nil || match == .again ? joinDoubt : nil
    }

    /// The doubt whether rows are the same that differ only in their files.
    public var filesDoubt: EnrolmentDoubt? {
        guard let rows = join?.fileless, rows > 0 else { return nil }
        return .otherFiles(store: store, group: group, rows: rows)
    }

    /// The doubt whether the group belongs to the same application.
    public var joinDoubt: EnrolmentDoubt? {
        guard let join, join.isDoubtful else { return nil }
        return .otherTables(store: store, group: group, join)
    }
}
