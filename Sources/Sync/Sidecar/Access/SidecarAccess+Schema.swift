internal import Changes

extension SidecarAccess {
    /// Records the store's schema, and returns whether the application has changed it.
    ///
    /// - Parameter id: see `SyncSchema.digest`.
    /// - Returns: `true` if the application has changed it.
    /// - Throws: `SidecarError`.
    func keepSchema(_ id: [UInt8]) throws -> Bool {
        let former = try bytes("schema")
        if former == id { return false }
        // The content of a shadow depends on the columns.
        try forgetLooks()
        try set("schema", bytes: id)
        guard former != nil else { return false }
        // The view depends on them as well: rows that were held may be shown.
        try wakeHeld()
        try markDirty(.zero)
        return true
    }
}
