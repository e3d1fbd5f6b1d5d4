/// Which of several stores is meant.
enum StoreChoice {
    /// Returns the only store there is.
    ///
    /// - Parameters:
    ///   - stores: their paths, printable.
    ///   - place: the place that they are in, in messages.
    /// - Returns: its path.
    /// - Throws: `LookingError` if there is none, or more than one.
    static func only(of stores: [String], in place: String) throws -> String {
        guard let store = stores.first else { throw LookingError.noStores(in: place) }
        guard stores.count == 1 else {
            throw LookingError.severalStores(in: place, stores: stores)
        }
        return store
    }
}
