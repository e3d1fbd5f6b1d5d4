/// Which frames of a write-ahead log a reader that begins now would see
/// (https://www.sqlite.org/walformat.html).
///
/// Two equal states, one from before a read transaction began and one from after, tell which
/// snapshot the transaction has: the header changes with every commit.
struct WALState: Equatable {
    /// A counter of transactions; 0 if there is no shared index.
    var change: UInt32
    /// The last frame of the last committed transaction; 0 if the log is empty.
    var lastFrame: UInt32
    /// The log's generation; a frame with another belongs to an older one.
    var salt: UInt64
    /// Whether all frames are in the database file already, so that readers leave the log alone.
    var isInDatabase: Bool
}

extension WALState {
    /// Reads the header of a shared index, in the machine's byte order: twice the same 48 bytes,
    /// then the checkpoint's progress.
    init?(index: UnsafeMutableRawPointer) {
        func word(_ offset: Int) -> UInt32 { index.load(fromByteOffset: offset, as: UInt32.self) }
        let first = (0..<12).map { word(4 * $0) }
        let second = (0..<12).map { word(48 + 4 * $0) }
        let isInitialized = index.load(fromByteOffset: 12, as: UInt8.self) == 1
        guard first == second, isInitialized else { return nil }
        self.init(
            change: first[2],
            lastFrame: first[4],
            salt: index.load(fromByteOffset: 32, as: UInt64.self),
            isInDatabase: word(96) == first[4]
        )
    }
}

/// The knowledge of a log at one moment.
enum LogState: Equatable {
    /// No process keeps an index of one.
    case absent
    /// Somebody is changing it just now.
    case changing
    case state(WALState)
}
