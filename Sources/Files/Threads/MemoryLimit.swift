internal import CFiles
internal import Foundation

/// A limit on the memory that this program may map (setrlimit(2), RLIMIT_AS, RLIMIT_DATA).
///
/// If the limit is reached, libdispatch waits for a thread that it never gets, even with locks held, and Swift ends the
/// program without a message. So a program with too little memory does not start.
public enum MemoryLimit {
    /// The memory in bytes for buffers, caches and lists.
    private static let least = 192 << 20
    /// The memory in bytes for the buffers of a thread.
    private static let perThread = 8 << 20
    /// The number of threads that the system's libraries start.
    private static let others = 4
    /// The size in bytes of a thread's stack if it is not limited.
    private static let usualStack = 8 << 20

    /// Whether a limit is set.
    static var isSet: Bool { resources.contains { limit(of: $0) != nil } }

    /// Checks whether a limit leaves enough memory to start, and saves memory if there is a limit.
    ///
    /// - Parameter threads: the number of threads that work at once.
    /// - Returns: the required number of free bytes if they are not available; `nil` if they are.
    public static func lack(forThreads threads: Int) -> Int? {
        guard isSet else { return nil }
        // Each arena takes 64 MiB of address space.
        MemoryArenas.limit()
        let stack = limit(of: stackResource).map { min(Int($0), 1 << 30) } ?? usualStack
        let wanted = least + (threads + others) * (stack + perThread)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let space = mmap(nil, wanted, PROT_READ | PROT_WRITE, flags, -1, 0),
            space != MAP_FAILED
        else { return wanted }
        munmap(space, wanted)
        return nil
    }

    #if canImport(Darwin)
    private typealias Resource = Int32
    private static let resources: [Resource] = [RLIMIT_AS, RLIMIT_DATA]
    private static let stackResource = RLIMIT_STACK
    private static let unlimited = rlim_t(Int64.max)
    #else
    private typealias Resource = __rlimit_resource_t
    private static let resources = [RLIMIT_AS, RLIMIT_DATA].map { Resource($0.rawValue) }
    private static let stackResource = Resource(RLIMIT_STACK.rawValue)
    private static let unlimited = rlim_t.max
    #endif

    private static func limit(of resource: Resource) -> rlim_t? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < unlimited else { return nil }
        return limit.rlim_cur
    }
}

/// The C library's arenas, from which threads allocate memory.
public enum MemoryArenas {
    /// Limits the arenas to two, or to one if memory is limited.
    ///
    /// This takes less memory and more time.
    ///
    /// Otherwise each thread would have its own arena, and keep memory there that others released: segments of a
    /// megabyte go from inflating threads to a reading one. A fifth of a comparison's memory was such leftovers. On the
    /// other hand, an encrypted backup took 6 % more processor time.
    public static func limit() { cfiles_limit_arenas(MemoryLimit.isSet ? 1 : 2) }

    /// Makes each arena keep a few freed MiB for the next allocations, but never more.
    ///
    /// Otherwise a loop that allocates and frees blocks of 64 KiB gets new pages each time, in which the kernel spent a
    /// tenth of an encrypted backup's time. Larger blocks are returned at once. By default they are not after the first
    /// one was freed: a consolidation kept 8 MiB of its writing while it verified.
    public static func keepFreed() { cfiles_keep_freed(4 << 20) }
}
