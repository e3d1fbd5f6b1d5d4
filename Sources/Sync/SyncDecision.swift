public import Files

/// A state in which only the user knows what the data mean; nothing is exchanged until it is answered.
public enum SyncDecision: ExplainedError, Equatable {
    /// Most rows of a table are gone from the store: by an edit, or by accident?
    case manyGone(table: String, rows: Int64, of: Int64)
    /// Most rows of a table would be deleted by what arrived.
    case manyDeletions(table: String, rows: Int64, of: Int64)
    /// The store is another file, or an older state of it.
    case replaced(String)
    /// The container has a group of this name that is not ours.
    case otherGroup(String)
    /// The group's map is a new one, which leaves out tables or columns, or knows rows of tables otherwise.
    case newMap(leavesOut: [String], identifies: [String])
    /// The settings name another container than the one that the store was synced with.
    case otherContainer(String, was: String)

    /// A word for it in answers for programs.
    public var code: String {
        switch self {
        case .manyGone: "many_gone"
        case .manyDeletions: "many_deletions"
        case .replaced: "replaced"
        case .otherGroup: "other_group"
        case .newMap: "new_map"
        case .otherContainer: "other_container"
        }
    }

    public var description: String {
        switch self {
        case .manyGone(let table, let rows, let all):
            "\(rows) of \(all) rows of '\(table)' are gone: they would be deleted on all devices"
        case .manyDeletions(let table, let rows, let all):
            "\(rows) of \(all) rows of '\(table)' were deleted elsewhere, and would be here"
        case .replaced(let store):
            "'\(store)' is not the file, or not the state, that was synced last"
        case .otherGroup(let name):
            "the group '\(name)' in the container is another one than this store's"
        case .newMap(let leavesOut, let identifies):
            "the group has a new map, which "
                + [("leaves out ", leavesOut), ("knows rows otherwise of ", identifies)]
                .filter { !$0.1.isEmpty }
                .map { verb, names in verb + names.map { "'\($0)'" }.joined(separator: ", ") }
                .joined(separator: "; it ")
        case .otherContainer(let container, let was):
            "the container is '\(container)', and this store was synced with '\(was)'"
        }
    }
}
