internal import SystemPackage

/// What became of an interrupted restore.
enum RestoreRecovery {
    /// What was there before is there again; the error is why, if it was not for the crash alone.
    case undone(refused: FilePath?, since: (any Error)?)
    /// What was restored is in place.
    case finished(leftover: FilePath?)
    /// That had been done already.
    case settled
}
