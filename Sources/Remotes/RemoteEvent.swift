/// An event in the talk with a remote.
public enum RemoteEvent: Sendable, Equatable {
    /// The way of a file.
    public enum Direction: Sendable {
        case upload, download
    }

    /// A file begins to come or go; its size in bytes.
    case began(Direction, total: Int64)
    /// Bytes of it that have come or gone since the last time; 0 if it only goes on.
    case advanced(Int64)
    /// The remote with this address has not said anything for a while.
    case waiting(for: String, since: Duration)
}
