internal import CFiles

/// The arenas of the C library, out of which threads get memory.
public enum MemoryArenas {
    /// Lets no more than two be made; call it before the first thread begins.
    ///
    /// Each thread would have one of its own, and keep there what others have released: segments of a megabyte
    /// go from threads that inflate them to one that reads. A fifth of a comparison's memory was such remains.
    public static func limit() { cfiles_limit_arenas(2) }
}
