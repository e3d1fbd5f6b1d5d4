internal import Archives
internal import Files
internal import Synchronization

/// The byte sources of open files.
///
/// Only a few sources that take memory exist at a time; others are made again on demand.
final class SourcePool: Sendable {
    /// A lock that lets one thread at a time read a file.
    ///
    /// A kernel reads ahead with many small requests: without the lock, several threads would inflate one segment.
    final class Turn: Sendable {
        let mutex = Mutex(())
    }

    private struct Entry {
        let turn = Turn()
        var handles = 0
        var source: (any ByteSource)?
        var used: UInt64 = 0
        /// Whether the source takes memory and can be made again at little cost.
        var isCheap: Bool { source is EntrySource || source is MemorySource }
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var clock: UInt64 = 0
    }

    /// The segment cache of all sources.
    let cache: SegmentCache
    /// The greatest number of sources that can be made again; each may read a segment ahead.
    private let limit: Int
    private let state = Mutex(State())

    /// Creates an empty pool.
    ///
    /// - Parameters:
    ///   - limit: the greatest number of sources that can be made again.
    ///   - cacheLimit: the greatest size of cached segments in bytes.
    init(limit: Int = 4, cacheLimit: Int = 16 << 20) {
        self.limit = limit
        cache = SegmentCache(limit: cacheLimit, ahead: 1)
    }

    /// Records that a file was opened, until a call of `release`.
    ///
    /// - Returns: the lock to hold while reading the file.
    @discardableResult
    func retain(_ inode: UInt64) -> Turn {
        state.withLock { state in
            state.entries[inode, default: Entry()].handles += 1
            return state.entries[inode, default: Entry()].turn
        }
    }

    /// Records that a file was closed.
    func release(_ inode: UInt64) {
        // The source is released outside the lock, because its cleanup may take long.
        let gone = state.withLock { state -> Entry? in
            state.entries[inode]?.handles -= 1
            guard let entry = state.entries[inode], entry.handles <= 0 else { return nil }
            state.entries[inode] = nil
            return entry
        }
        withExtendedLifetime(gone) {}
    }

    /// Returns the source of an open file.
    ///
    /// - Parameters:
    ///   - inode: the file.
    ///   - make: makes the source if the pool has none; called by one thread at a time per file.
    /// - Returns: the source, valid for as long as the caller holds it.
    /// - Throws: errors of `make`.
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

    /// Returns the source of an open file; `nil` if the pool has none.
    func kept(_ inode: UInt64) -> (any ByteSource)? {
        state.withLock { state in
            state.clock += 1
            state.entries[inode]?.used = state.clock
            return state.entries[inode]?.source
        }
    }
}
