public import Files

/// Why rows cannot come back into a store; nothing was changed.
public enum ReturnRowsError: ExplainedError, Equatable {
    /// The store of the rows is not in the stores directory.
    case storeIsGone(String, stores: String)

    public var description: String {
        switch self {
        case .storeIsGone(let store, let stores):
            "rows go into a store that is there, and there is no '\(store)' in '\(stores)'"
        }
    }

    public var hint: String? { "bring all of it back" }
}
