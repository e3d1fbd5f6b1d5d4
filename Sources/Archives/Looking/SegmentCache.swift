internal import Synchronization

/// A cache of inflated and verified segments.
///
/// Several sources share one, together with the buffers for inflating.
///
/// If the cache is full, the least recently used segment is removed.
public final class SegmentCache: Sendable {
    /// The identity of a segment of a source.
    struct Key: Hashable {
        var source: ObjectIdentifier
        var index: Int
    }

    private struct Kept {
        var bytes: [UInt8]
        var used: UInt64
    }

    /// Buffers for one reader at a time.
    private struct Spare: @unchecked Sendable {
        let buffers = SegmentBuffers()
    }

    /// The maximum number of unused buffers that are kept.
    private static let sparesLimit = 4

    private struct State {
        var kept: [Key: Kept] = [:]
        var clock: UInt64 = 0
        var size = 0
    }

    /// The maximum number of bytes that are kept.
    public let limit: Int
    /// The maximum number of segments that a source reads ahead.
    public let ahead: Int
    private let state = Mutex(State())
    private let spares = Mutex<[Spare]>([])
    /// The memory of overlays.
    let overlays = Overlay.Pool()

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes that are kept. A lookup in a database needs few segments, and a scan
    ///     needs each of them once.
    ///   - ahead: the maximum number of segments that a source reads ahead. Two threads inflate no faster than SQLite
    ///     scans; a third keeps them busy while one waits.
    public init(limit: Int = 6 << 20, ahead: Int = 3) {
        self.limit = limit
        self.ahead = ahead
    }

    /// Returns a segment; `nil` if it is not in the cache.
    func bytes(_ key: Key) -> [UInt8]? {
        state.withLock { state in
            state.clock += 1
            state.kept[key]?.used = state.clock
            return state.kept[key]?.bytes
        }
    }

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

    /// Runs `body` with buffers that are otherwise unused.
    func withBuffers<Result>(_ body: (SegmentBuffers) throws -> Result) rethrows -> Result {
        let own = spares.withLock { $0.popLast() } ?? Spare()
        defer { spares.withLock { if $0.count < Self.sparesLimit { $0.append(own) } } }
        return try body(own.buffers)
    }

    /// Removes all segments of a closed source, since another source may get its identity.
    ///
    /// - Parameters:
    ///   - source: the source.
    ///   - count: the number of its segments.
    func forget(_ source: ObjectIdentifier, of count: Int) {
        state.withLock { state in
            let keys =
                count < state.kept.count
                ? (0..<count).map { Key(source: source, index: $0) }
                : state.kept.keys.filter { $0.source == source }
            for key in keys {
                guard let kept = state.kept.removeValue(forKey: key) else { continue }
                state.size -= kept.bytes.count
            }
        }
    }
}
