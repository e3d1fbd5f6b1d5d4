internal import SystemPackage

/// The end of an interrupted restore.
enum RestoreRecovery {
    /// The data from before it is in place again; the error is why, if it was not for the crash alone.
    case undone(refused: FilePath?, since: (any Error)?)
    /// The restored data is in place.
    case finished(leftover: FilePath?)
    /// That had been done already.
    case settled
}
