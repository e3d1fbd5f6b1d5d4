internal import Operations

extension Hint {
    /// Returns the advice where a store is compared as a file, since its rows cannot be read.
    static func after(_ store: UnreadStore) -> String {
        guard store.isDamaged else { return "close its application, and try again" }
        return store.isLive
            ? "put it back with 'grocerydude restore NAME --only '\(store.path)'', or repair it: https://www.sqlite.org/recovery.html"
            : "try an older backup; a copy in another place may be whole"
    }
}
