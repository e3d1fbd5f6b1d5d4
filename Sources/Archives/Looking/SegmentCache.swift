internal import Synchronization

/// Segments that were inflated and verified, and may be asked for again; several sources share one, with the
/// buffers that they are inflated in.
///
/// Of those that do not fit, the one goes that was asked for the longest time ago.
public final class SegmentCache: Sendable {
    /// Names a segment of a source.
    struct Key: Hashable {
        var source: ObjectIdentifier
        var index: Int
    }

    private struct Kept {
        var bytes: [UInt8]
        var used: UInt64
    }

    /// Buffers that one reader after the other uses.
    private struct Spare: @unchecked Sendable {
        let buffers = SegmentBuffers()
    }

    /// The most buffers that are kept while nobody uses them.
    private static let sparesLimit = 4

    private struct State {
        var kept: [Key: Kept] = [:]
        var clock: UInt64 = 0
        var size = 0
    }

    /// The most bytes that are kept.
    public let limit: Int
    /// The most segments that a source reads before they are asked for.
    public let ahead: Int
    private let state = Mutex(State())
    private let spares = Mutex<[Spare]>([])
    /// The memory of overlays.
    let overlays = Overlay.Pool()

    /// Makes an empty one.
    ///
    /// - Parameters:
    ///   - limit: the most bytes that are kept; a lookup in a database needs few segments, and a scan each of
    ///     them once.
    ///   - ahead: the most segments that a source reads before they are asked for. Two threads inflate no faster
    ///     than SQLite scans; while one waits for them, a third keeps them busy.
    public init(limit: Int = 6 << 20, ahead: Int = 3) {
        self.limit = limit
        self.ahead = ahead
    }

    /// Returns a segment; `nil` if it is not kept.
    func bytes(_ key: Key) -> [UInt8]? {
        state.withLock { state in
            state.clock += 1
            state.kept[key]?.used = state.clock
            return state.kept[key]?.bytes
        }
    }

    /// Keeps a segment.
    func keep(_ bytes: [UInt8], as key: Key) {
        state.withLock { state in
            guard state.kept[key] == nil else { return }
            while state.size + bytes.count > limit,
                let oldest = state.kept.min(by: { $0.value.used < $1.value.used })
            {
                state.kept[oldest.key] = nil
                state.size -= oldest.value.bytes.count
            }
            state.clock += 1
            state.size += bytes.count
            state.kept[key] = Kept(bytes: bytes, used: state.clock)
        }
    }

    /// Runs `body` with buffers that nobody else is using.
    func withBuffers<Result>(_ body: (SegmentBuffers) throws -> Result) rethrows -> Result {
        let own = spares.withLock { $0.popLast() } ?? Spare()
        defer { spares.withLock { if $0.count < Self.sparesLimit { $0.append(own) } } }
        return try body(own.buffers)
    }

    /// Gives up all segments of a source that is gone: another may get its identity.
    func forget(_ source: ObjectIdentifier) {
        state.withLock { state in
            for (key, kept) in state.kept where key.source == source {
                state.kept[key] = nil
                state.size -= kept.bytes.count
            }
        }
    }
}
