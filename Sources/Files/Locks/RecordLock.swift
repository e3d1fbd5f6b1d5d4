internal import CFiles
internal import Foundation

extension File {
    /// Finds another process that has a record lock (fcntl(2)) in a range of the file.
    ///
    /// - Returns: `nil` if there is none. The holder's process is 0 if the system does not report it, as for a process
    ///   in another container.
    public func recordLockHolder(from start: Int64, length: Int64) throws -> LockHolder? {
        var process: pid_t = 0
        switch cfiles_find_lock(descriptor, off_t(start), off_t(length), &process) {
        case 0: return nil
        case 1: return LockHolder(process: process)
        default: throw lastError(.lock, path)
        }
    }

    /// Takes a shared record lock on a range, without waiting.
    ///
    /// The lock is released when this process closes any descriptor of the file.
    ///
    /// - Returns: whether it was granted.
    public func lockRecordShared(from start: Int64, length: Int64) throws -> Bool {
        if cfiles_lock_shared(descriptor, off_t(start), off_t(length)) == 0 { return true }
        guard errno == EAGAIN || errno == EACCES else { throw lastError(.lock, path) }
        return false
    }
}
