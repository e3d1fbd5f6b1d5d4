public import Files
public import Foundation
internal import Remotes
public import SystemPackage

/// Backups that wait on this machine until their remote folder can be reached.
///
/// It is a directory of archives with tags and notes beside them, as every folder of backups, and one for
/// each remote folder. What waits there is nowhere else: it is no cache.
public struct Outbox: Sendable {
    /// The most that may wait.
    public struct Limit: Sendable, Equatable {
        public var backups = 30
        public var bytes: Int64 = 10_000_000_000

        public init() {}
    }

    /// The file that names the remote folder, for whoever finds the directory.
    private static let addressName = "remote.txt"

    public let path: FilePath
    public let limit: Limit
    private let memory: BackupMemory
    private let timeZone: TimeZone

    /// Names a directory, which is made when something has to wait.
    public init(_ path: FilePath, limit: Limit, memory: BackupMemory, timeZone: TimeZone) {
        self.path = path
        self.limit = limit
        self.memory = memory
        self.timeZone = timeZone
    }

    /// The outbox as a folder of backups.
    package var folder: BackupFolder {
        BackupFolder(LocalFolder(path), memory: memory, timeZone: timeZone)
    }

    /// Returns the backups that wait, newest first; none if nothing ever had to.
    ///
    /// - Throws: `RemoteError`, `FileError`.
    public func waiting() async throws -> [Backup] {
        do {
            return try await folder.list().backups.map { backup in
                var backup = backup
                backup.isWaiting = true
                return backup
            }
        } catch RemoteError.missing, RemoteError.notAFolder {
            return []
        } catch FileError.failed(_, _, .permissionDenied) {
            // It is another user's: root's, say, who used this home.
            return []
        }
    }

    /// Makes its directory, if that is missing.
    ///
    /// - Parameter address: the remote folder's.
    /// - Throws: `FileError`.
    package func make(for address: String) throws {
        try LocalFileSystem().createDirectories(path)
        let note = path.appending(Self.addressName)
        guard try FileInfo.ifPresent(note) == nil else { return }
        try LocalFileSystem().write(Array("\(address)\n".utf8), to: note)
    }

    /// Looks for room for one more.
    ///
    /// - Parameters:
    ///   - waiting: what waits now.
    ///   - reason: why it has to.
    /// - Returns: the bytes that may still come.
    /// - Throws: `OutboxError.full`.
    package func room(beside waiting: [Backup], since reason: any Error) throws -> Int64 {
        let size = waiting.reduce(Int64(0)) { $0.addingSaturated($1.size) }
        guard waiting.count < limit.backups, size < limit.bytes else {
            throw full(beside: waiting, since: reason)
        }
        return limit.bytes - size
    }

    /// Returns the error that says that no more can wait.
    package func full(beside waiting: [Backup], since reason: any Error) -> OutboxError {
        let size = waiting.reduce(Int64(0)) { $0.addingSaturated($1.size) }
        return .full(path, waiting: waiting.count, bytes: size, reason)
    }
}

/// Why a backup cannot wait.
public enum OutboxError: ExplainedError {
    /// As much waits as may: nothing was added, and nothing was taken away.
    case full(FilePath, waiting: Int, bytes: Int64, any Error)

    public var description: String {
        switch self {
        case .full(_, let waiting, let bytes, let reason):
            "no further backup can wait for upload beside \(waiting) of \(byteCount(bytes)): \(explain(reason))"
        }
    }

    public var hint: String? {
        switch self {
        case .full(let path, _, _, _):
            "see to it that the remote folder can be reached, or raise the limit; what waits is in '\(printable(path))'"
        }
    }
}
