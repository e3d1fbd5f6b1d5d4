#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Makes a system call again for as long as a signal interrupts it (EINTR).
///
/// Most calls on a disk are never interrupted; those on a network file system, or on one in a
/// process of its own, may be (signal(7)).
///
/// - Returns: what the call returned; if that is -1, `errno` says why, and it is not EINTR.
func uninterrupted(_ call: () -> CInt) -> CInt {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
