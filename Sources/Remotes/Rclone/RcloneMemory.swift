internal import Files
internal import Synchronization

/// One run's knowledge of a remote folder from its last listing, which saves processes.
///
/// The folder and its subfolders share it. It may be outdated, so no decision that could lose a file relies on it
/// alone.
final class RcloneMemory: Sendable {
    private struct State {
        /// The files of the folder in its last listing.
        var files: [RemoteFile]?
        /// The files of hidden subfolders, listed with it; each list is used once.
        var ahead: [String: [RemoteFile]]?
        /// The subfolders whose lists were used since.
        var asked: Set<String> = []
        var listed = ContinuousClock.now
        /// The last uploaded file of this machine that has no name yet, and its claim.
        var waiting: (file: FileInfo, claim: UploadClaim)?
        /// The remotes of rclone's configuration.
        var remotes: [String: [String: String]]?
    }

    /// The time for which a subfolder's list from the folder's listing is used.
    private static let freshness = Duration.seconds(600)

    private let state = Mutex(State())
    /// The name of this machine in its claims.
    let machine: String

    /// The mask for secrets in the folder's address.
    let mask: RcloneMask

    init(machine: String, mask: RcloneMask) {
        self.machine = machine
        self.mask = mask
    }

    /// The files of the folder in its last listing; `nil` if there was none.
    var files: [RemoteFile]? { state.withLock { $0.files } }

    /// The remotes of rclone's configuration; `nil` if it was not read yet.
    var remotes: [String: [String: String]]? { state.withLock { $0.remotes } }

    /// Stores the remotes of rclone's configuration.
    func take(remotes: [String: [String: String]]) { state.withLock { $0.remotes = remotes } }

    /// Stores a list of the folder and of its hidden subfolders.
    func take(_ files: [RemoteFile], subfolders: [String: [RemoteFile]]?) {
        state.withLock {
            $0.files = files
            $0.ahead = subfolders
            $0.asked = []
            $0.listed = .now
        }
    }

    /// Returns the files of a subfolder, if they were listed with the folder and not returned before.
    func takeSubfolder(_ name: String) -> [RemoteFile]? {
        state.withLock { state in
            // A second request wants to see changes.
            guard RcloneFolder.isListedAhead(name), let ahead = state.ahead,
                ContinuousClock.now - state.listed < Self.freshness,
                state.asked.insert(name).inserted
            else { return nil }
            return ahead[name] ?? []
        }
    }

    /// Forgets lists that a change makes outdated.
    func change() {
        state.withLock { $0.ahead = nil }
    }

    /// Remembers an uploaded file that did not get its name.
    func wait(_ file: FileInfo, _ claim: UploadClaim) {
        state.withLock { $0.waiting = (file, claim) }
    }

    /// Returns the claim of an uploaded file that did not get its name.
    func waiting(_ file: FileInfo) -> UploadClaim? {
        state.withLock { state in
            guard let waiting = state.waiting, waiting.file.identity == file.identity,
                waiting.file.size == file.size, waiting.file.modified == file.modified
            else { return nil }
            state.waiting = nil
            return waiting.claim
        }
    }
}
