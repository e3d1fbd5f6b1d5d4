internal import CFiles

/// The arenas of the C library, out of which threads get memory.
public enum MemoryArenas {
    /// Lets none be made any more once there are two, which takes less memory and more time.
    ///
    /// Each thread would have one of its own, and keep there what others have released: segments of a megabyte
    /// go from threads that inflate them to one that reads. A fifth of a comparison's memory was such remains. An
    /// encrypted backup, on the other hand, took 6 % more processor time.
    public static func limit() { cfiles_limit_arenas(2) }

    /// Has each keep a few MiB that were freed, for what is allocated next, and never more.
    ///
    /// Whoever allocates and frees blocks of 64 KiB, again and again, otherwise gets new pages each time: the kernel
    /// then took a tenth of the time of an encrypted backup. Larger blocks go back at once; without this, they do no
    /// more after the first one was freed, and a consolidation held 8 MiB of its writing while it verified.
    public static func keepFreed() { cfiles_keep_freed(4 << 20) }
}
