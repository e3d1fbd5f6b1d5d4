internal import CFiles

/// The memory that was freed, and that the C library gives back to the system.
public enum FreedMemory {
    /// Has a few MiB kept for what is allocated next.
    ///
    /// Whoever allocates and frees blocks of 64 KiB, again and again, otherwise gets new pages each time: the kernel
    /// then took a tenth of the time of an encrypted backup.
    public static func keep() { cfiles_keep_freed(4 << 20) }
}
