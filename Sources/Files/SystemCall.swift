internal import SystemPackage

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
func uninterrupted<Status: SignedInteger>(_ call: () -> Status) -> Status {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// Makes a system call, as `uninterrupted(_:)` does.
///
/// - Returns: what the call returned, which is not -1.
/// - Throws: `FileError`; `.exists` if the name is taken.
@discardableResult
func systemCall<Status: SignedInteger>(
    _ action: FileError.Action,
    _ path: @autoclosure () -> FilePath,
    _ call: () -> Status
) throws -> Status {
    let status = uninterrupted(call)
    guard status == -1 else { return status }
    throw errno == EEXIST ? FileError.exists(path()) : lastError(action, path())
}

/// Returns the error of the system call that has just failed.
func lastError(_ action: FileError.Action, _ path: @autoclosure () -> FilePath) -> FileError {
    let errno = Errno(rawValue: errno)
    return .failed(action, path(), errno)
}
