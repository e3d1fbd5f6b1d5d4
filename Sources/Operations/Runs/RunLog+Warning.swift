public import History
internal import Files

extension RunLog {
    /// A warning that the log was damaged, and where it was put; `nil` if it was not.
    public var warning: String? {
        putAside.map { "the log was damaged and begun anew: it is in '\(printable($0))'" }
    }
}
