internal import Backups
internal import Files
internal import Foundation
internal import Mounts
internal import Remotes
internal import Synchronization
internal import SystemPackage

/// A backup of a mounted folder, which is opened when somebody looks into it.
final class MountedBackup: Sendable {
    /// How long to believe that it cannot be opened: a remote may come back.
    private static let patience = Duration.seconds(10)

    private enum State {
        case closed
        case opened(MountedContent)
        /// It could not be opened then.
        case failed(Errno, ContinuousClock.Instant)
    }

    /// The number that no other backup of the folder ever has.
    let number: UInt64
    /// The backup as it was listed first.
    let backup: Backup
    private let state = Mutex(State.closed)

    init(_ backup: Backup, number: UInt64) {
        self.backup = backup
        self.number = number
    }

    /// The inode of its directory.
    var inode: UInt64 { number << MountedContent.bits }

    /// Nanoseconds since 1970-01-01 UTC; 0 if its time is not known.
    var time: Int64 { backup.time.map { Int64($0.timeIntervalSince1970 * 1e9) } ?? 0 }

    /// Returns whether a listing has the same backup.
    func isSame(_ other: Backup) -> Bool {
        backup.name == other.name && backup.size == other.size
            && backup.file.modified == other.file.modified && backup.isWaiting == other.isWaiting
    }

    /// Returns what is in it; one thread at a time opens it, and the others wait.
    ///
    /// - Parameter open: opens it.
    /// - Returns: it, which stays good if the backup is closed.
    /// - Throws: what `open` throws, or has thrown a moment ago.
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
                // Nobody is to wait for what was only interrupted.
                state = error == .interrupted ? .closed : .failed(error, .now)
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Entries that are in memory.
    var nodes: Int {
        state.withLockIfAvailable {
            if case .opened(let content) = $0 { content.tree.nodes.count } else { 0 }
        } ?? 0
    }

    /// Gives up what is in memory, unless it is just being opened; open files stay good.
    func close() {
        let old = state.withLockIfAvailable { state -> State in
            defer { if case .opened = state { state = .closed } }
            return state
        }
        withExtendedLifetime(old) {}
    }
}
