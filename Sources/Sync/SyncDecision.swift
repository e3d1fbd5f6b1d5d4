public import Files

/// A question about the data that only the user can answer; nothing is exchanged before the answer.
public enum SyncDecision: ExplainedError, Equatable {
    /// Most rows of a table are gone from the store: by an edit, or by accident?
    case manyGone(table: String, rows: Int64, of: Int64)
    /// The changes that arrived would delete most rows of a table.
    case manyDeletions(table: String, rows: Int64, of: Int64)
    /// The store is another file, or an older state of it.
    case replaced(String)
    /// The container has another group of this name.
    case otherGroup(String)
    /// The group has a new map that excludes tables or columns, identifies rows of tables by other columns, or has files
    /// written in directories.
    case newMap(leavesOut: [String], identifies: [String], writesFilesIn: [String])
    /// The settings name another container than the one with which the store was synced.
    case otherContainer(String, was: String)
    /// The store cannot be exchanged as its schema and the map are now, for this reason.
    case refused(String)

    /// A word for the decision in answers for programs.
    public var code: String {
        switch self {
        case .manyGone: "many_gone"
        case .manyDeletions: "many_deletions"
        case .replaced: "replaced"
        case .otherGroup: "other_group"
        case .newMap: "new_map"
        case .otherContainer: "other_container"
        case .refused: "refused"
        }
    }

    public var outcome: FailureOutcome { .needsDecision }

    public var hint: String? {
        switch self {
        case .newMap: "if that is right, run 'grocerydude sync --accept-changes'"
        case .manyGone:
            "if that is right, run 'grocerydude sync --accept-changes'; to have the rows back from the others, run 'grocerydude sync rejoin --take merge'"
        case .manyDeletions:
            "if that is right, run 'grocerydude sync --accept-changes'; to keep the rows, and bring them back everywhere, run 'grocerydude sync rejoin --take merge'"
        case .replaced, .otherGroup:
            """
            'grocerydude sync rejoin --take merge': rows that others deleted come back; \
            'grocerydude sync rejoin --take edits': what differs here is an edit for all devices; \
            'grocerydude sync rejoin --take container': the others' state replaces this one, and a copy is kept
            """
        case .otherContainer(_, let was):
            "name '\(was)' again, or leave that group first with 'grocerydude sync disable'"
        case .refused: nil
        }
    }

    public var description: String {
        switch self {
        case .manyGone(let table, let rows, let all):
            "\(rows) of \(all) rows of '\(table)' are gone: they would be deleted on all devices"
        case .manyDeletions(let table, let rows, let all):
            "\(rows) of \(all) rows of '\(table)' were deleted elsewhere, and would be deleted here"
        case .replaced(let store):
            "'\(store)' is another file, or in another state, than when it was synced last"
        case .otherGroup(let name):
            "the container holds a different group named '\(name)'"
        case .newMap(let leavesOut, let identifies, let directories):
            "the group has a new map, which "
                + [
                    ("leaves out ", leavesOut), ("identifies rows differently in ", identifies),
                    ("writes files in ", directories),
                ]
                .filter { !$0.1.isEmpty }
                .map { verb, names in verb + names.map { "'\($0)'" }.joined(separator: ", ") }
                .joined(separator: "; it ")
        case .otherContainer(let container, let was):
            "the container is '\(container)', but this store was synced with '\(was)'"
        case .refused(let reason): reason
        }
    }
}
