/// The frames of a write-ahead log that a reader would see now (https://www.sqlite.org/walformat.html).
///
/// Two equal states, from before and after the beginning of a read transaction, identify the transaction's snapshot:
/// the header changes with every commit.
struct WALState: Equatable {
    /// A counter of transactions; 0 if there is no shared index.
    var change: UInt32
    /// The last frame of the last committed transaction; 0 if the log is empty.
    var lastFrame: UInt32
    /// The log's generation; frames of an older generation have another salt.
    var salt: UInt64
    /// Whether all frames are in the database file already, so that readers ignore the log.
    var isInDatabase: Bool
}

extension WALState {
    /// Reads the header of a shared index, in the machine's byte order: the same 48 bytes twice, then the
    /// checkpoint's progress.
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

/// The state of a log at one moment, as far as it is known.
enum LogState: Equatable {
    /// No process keeps an index of a log.
    case absent
    /// Another process is changing the log.
    case changing
    case state(WALState)
}
