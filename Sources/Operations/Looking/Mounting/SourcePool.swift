internal import Archives
internal import Files
internal import Synchronization

/// What open files are read from: of those that take memory only a few are there at a time, and are made again
/// when they are asked for.
final class SourcePool: Sendable {
    /// Lets one thread at a time read a file.
    ///
    /// A kernel reads ahead by many small requests: without it, several threads would inflate one segment.
    final class Turn: Sendable {
        let mutex = Mutex(())
    }

    private struct Entry {
        let turn = Turn()
        var handles = 0
        var source: (any ByteSource)?
        var used: UInt64 = 0
        /// Whether it can be made again for little.
        var isCheap: Bool { source is EntrySource || source is MemorySource }
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var clock: UInt64 = 0
    }

    /// The segments of all of them.
    let cache: SegmentCache
    /// The most sources at a time that can be made again; each may read a segment ahead.
    private let limit: Int
    private let state = Mutex(State())

    /// Makes an empty one.
    ///
    /// - Parameters:
    ///   - limit: the most sources at a time that can be made again.
    ///   - cacheLimit: the most bytes of segments that are kept.
    init(limit: Int = 4, cacheLimit: Int = 16 << 20) {
        self.limit = limit
        cache = SegmentCache(limit: cacheLimit, ahead: 1)
    }

    /// Notes that a file was opened; `release` ends that.
    ///
    /// - Returns: what whoever reads it holds meanwhile.
    @discardableResult
    func retain(_ inode: UInt64) -> Turn {
        state.withLock { state in
            state.entries[inode, default: Entry()].handles += 1
            return state.entries[inode, default: Entry()].turn
        }
    }

    /// Notes that a file was closed.
    func release(_ inode: UInt64) {
        // A source goes outside of the lock: it may have much to clean up.
        let gone = state.withLock { state -> Entry? in
            state.entries[inode]?.handles -= 1
            guard let entry = state.entries[inode], entry.handles <= 0 else { return nil }
            state.entries[inode] = nil
            return entry
        }
        withExtendedLifetime(gone) {}
    }

    /// Returns what an open file is read from.
    ///
    /// - Parameters:
    ///   - inode: the file.
    ///   - make: makes it, if it is not there; called by one thread at a time for one file.
    /// - Returns: it, for as long as the caller needs it.
    /// - Throws: what `make` throws.
    func source(
        _ inode: UInt64,
        _ make: () throws -> any ByteSource
    ) throws -> any ByteSource {
        if let source = kept(inode) { return source }
        let source = try make()
        let gone = state.withLock { state -> [any ByteSource] in
            state.clock += 1
            guard state.entries[inode] != nil else { return [] }
            state.entries[inode]?.source = source
            state.entries[inode]?.used = state.clock
            let cheap = state.entries.filter(\.value.isCheap)
                .sorted { $0.value.used < $1.value.used }
            return cheap.prefix(max(0, cheap.count - limit)).compactMap { inode, entry in
                state.entries[inode]?.source = nil
                return entry.source
            }
        }
        withExtendedLifetime(gone) {}
        return source
    }

    /// Returns what an open file is read from, if it is there.
    func kept(_ inode: UInt64) -> (any ByteSource)? {
        state.withLock { state in
            state.clock += 1
            state.entries[inode]?.used = state.clock
            return state.entries[inode]?.source
        }
    }
}
