internal import Files

/// Something changed while an archive was written that only a new cut can mend.
struct CutAgain: ExplainedError {
    var reason: String
    /// Files of external data that were not there; files that are missing again are not on their way.
    var missing: Set<RelativePath>?

    var description: String { "\(reason) while it was backed up, every time that was tried" }
    var hint: String? { "try again when fewer applications come and go" }
}
