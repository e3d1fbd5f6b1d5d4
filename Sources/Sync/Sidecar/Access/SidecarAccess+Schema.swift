internal import Changes

extension SidecarAccess {
    /// Keeps what the store's schema is, and notices that the application has changed it.
    ///
    /// - Parameter id: see `SyncSchema.digest`.
    /// - Returns: whether it has.
    /// - Throws: `SidecarError`.
    func keepSchema(_ id: [UInt8]) throws -> Bool {
        let former = try bytes("schema")
        if former == id { return false }
        // What a shadow holds depends on the columns.
        try forgetLooks()
        try set("schema", bytes: id)
        guard former != nil else { return false }
        // So does the view: what was held may be shown.
        try wakeHeld()
        try markDirty(.zero)
        return true
    }
}
