internal import Backups
internal import Files
internal import Foundation
internal import Mounts
internal import Remotes
internal import Synchronization
internal import SystemPackage

/// A backup of a mounted folder; it is opened on first access.
final class MountedBackup: Sendable {
    /// The time before a failed opening is tried again: a remote may be reachable again.
    private static let patience = Duration.seconds(10)

    private enum State {
        case closed
        case opened(MountedContent)
        /// The backup could not be opened at that time.
        case failed(Errno, ContinuousClock.Instant)
    }

    /// The backup's number, which no other backup of the folder ever gets.
    let number: UInt64
    /// The backup as it was first listed.
    let backup: Backup
    private let state = Mutex(State.closed)

    init(_ backup: Backup, number: UInt64) {
        self.backup = backup
        self.number = number
    }

    /// The inode of the backup's directory.
    var inode: UInt64 { number << MountedContent.bits }

    /// The backup's time in nanoseconds since 1970-01-01 UTC; 0 if it is not known.
    var time: Int64 { backup.time?.nanoseconds ?? 0 }

    /// Returns whether a listed backup is this backup.
    func isSame(_ other: Backup) -> Bool {
        backup.name.exact == other.name.exact && backup.size == other.size
            && backup.file.modified == other.file.modified && backup.isWaiting == other.isWaiting
    }

    /// Returns the content.
    ///
    /// One thread at a time opens the backup, and the others wait.
    ///
    /// - Parameter open: opens the backup.
    /// - Returns: the content, which stays valid when the backup is closed.
    /// - Throws: errors of `open`, of this call or of one shortly before.
    func content(
        _ open: (MountedBackup) throws(Errno) -> MountedContent
    ) throws(Errno) -> MountedContent {
        let result = state.withLock { state -> Result<MountedContent, Errno> in
            switch state {
            case .opened(let content): return .success(content)
            case .failed(let errno, let moment) where moment.duration(to: .now) < Self.patience:
                return .failure(errno)
            case .failed, .closed: break
            }
            do throws(Errno) {
                let content = try open(self)
                state = .opened(content)
                return .success(content)
            } catch {
                // After an interruption, the next access tries again at once.
                state = error == .interrupted ? .closed : .failed(error, .now)
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The number of entries in memory.
    var nodes: Int {
        state.withLockIfAvailable {
            if case .opened(let content) = $0 { content.tree.nodes.count } else { 0 }
        } ?? 0
    }

    /// Releases the content in memory, unless the backup is just being opened; open files stay valid.
    func close() {
        let old = state.withLockIfAvailable { state -> State in
            defer { if case .opened = state { state = .closed } }
            return state
        }
        withExtendedLifetime(old) {}
    }
}
