extension Array {
    /// Returns the elements in the order of their keys.
    ///
    /// It computes each key once, and moves indices instead of elements, which may be large.
    func ordered<Key: Comparable>(by key: (Element) -> Key) -> [Element] {
        let keys = map(key)
        return indices.sorted { keys[$0] < keys[$1] }.map { self[$0] }
    }
}
