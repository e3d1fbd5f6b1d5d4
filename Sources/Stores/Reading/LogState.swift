/// The knowledge of a log at one moment.
enum LogState: Equatable {
    /// No process keeps an index of one.
    case absent
    /// Somebody is changing it just now.
    case changing
    case state(WALState)
}
