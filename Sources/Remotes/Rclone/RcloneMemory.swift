internal import Files
internal import Synchronization

/// What one run knows of a remote folder from its last listing, so that few processes are started.
///
/// The folder and its subfolders share it. Nothing is decided by it alone that could lose a file: what
/// it tells may have changed since.
final class RcloneMemory: Sendable {
    private struct State {
        /// The files of the folder, as they were listed last.
        var files: [RemoteFile]?
        /// The files of hidden subfolders, listed with it; each is used once.
        var ahead: [String: [RemoteFile]]?
        /// Those subfolders that were asked for since.
        var asked: Set<String> = []
        var listed = ContinuousClock.now
        /// The file of this machine that was uploaded last and has not got its name, and its claim.
        var waiting: (file: FileInfo, claim: UploadClaim)?
    }

    /// For how long a subfolder's list is taken that came with the folder's.
    private static let freshness = Duration.seconds(600)

    private let state = Mutex(State())
    /// What stands for this machine in its claims.
    let machine: String

    init(machine: String) {
        self.machine = machine
    }

    /// The files of the folder when it was listed last; `nil` if it was not.
    var files: [RemoteFile]? { state.withLock { $0.files } }

    /// Takes a list of the folder and of its hidden subfolders.
    func take(_ files: [RemoteFile], subfolders: [String: [RemoteFile]]?) {
        state.withLock {
            $0.files = files
            $0.ahead = subfolders
            $0.asked = []
            $0.listed = .now
        }
    }

    /// Returns the files of a subfolder, if they were listed with the folder and not asked for since.
    func takeSubfolder(_ name: String) -> [RemoteFile]? {
        state.withLock { state in
            // Not twice: somebody who asks again wants to know of changes.
            guard RcloneFolder.isListedAhead(name), let ahead = state.ahead,
                ContinuousClock.now - state.listed < Self.freshness,
                state.asked.insert(name).inserted
            else { return nil }
            return ahead[name] ?? []
        }
    }

    /// Forgets what a change makes untrue.
    func change() {
        state.withLock { $0.ahead = nil }
    }

    /// Remembers that a file was uploaded, but did not get its name.
    func wait(_ file: FileInfo, _ claim: UploadClaim) {
        state.withLock { $0.waiting = (file, claim) }
    }

    /// Returns the claim of a file that was uploaded and did not get its name.
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
