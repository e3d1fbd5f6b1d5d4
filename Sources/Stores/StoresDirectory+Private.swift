public import Files

extension StoresDirectory {
    /// The directory at the top of a stores directory that belongs to restores: there they stage
    /// what cannot be staged beside it, and keep what they could not remove.
    public static let restoreArea: FileName = ".grocerydude-restore"

    /// Whether something at the top of the directory is no part of its data, so that it is neither
    /// backed up nor replaced.
    ///
    /// That is the restore area, and at the top of a file system of its own the directory
    /// `lost+found`, which belongs to that file system (mklost+found(8)).
    public func leavesOut(_ name: FileName, _ info: FileInfo) -> Bool {
        name == Self.restoreArea
            || name == "lost+found" && info.kind == .directory && info.owner == 0 && isMountPoint
    }
}
