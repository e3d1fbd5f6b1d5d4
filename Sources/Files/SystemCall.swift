internal import Foundation
internal import SystemPackage

/// Repeats a system call as long as a signal interrupts it (EINTR).
///
/// Most calls on a disk are never interrupted. Calls on a network file system, or on one that a process implements, may
/// be (signal(7)).
///
/// - Returns: the result of the call; if it is -1, `errno` has the reason, which is not EINTR.
func uninterrupted<Status: SignedInteger>(_ call: () -> Status) -> Status {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// Makes a system call with `uninterrupted(_:)`.
///
/// - Returns: the result of the call, which is not -1.
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

/// Returns the error of the system call that just failed.
func lastError(_ action: FileError.Action, _ path: @autoclosure () -> FilePath) -> FileError {
    let errno = Errno(rawValue: errno)
    return .failed(action, path(), errno)
}
