public import Files
internal import Foundation
internal import Remotes
public import SystemPackage

/// Backups that wait on this machine until their remote folder can be reached.
///
/// The outbox is a directory of archives with annotations, like every folder of backups. There is one for each remote
/// folder. It is no cache: waiting backups exist nowhere else.
public struct Outbox: Sendable {
    /// The maximum of waiting backups and of their bytes.
    public struct Limit: Sendable, Equatable {
        public var backups = 30
        public var bytes: Int64 = 10_000_000_000

        public init() {}
    }

    /// The name of the file that names the remote folder, for people who find the directory.
    private static let addressName = "remote.txt"

    public let path: FilePath
    public let limit: Limit
    private let memory: BackupMemory
    private let timeZone: LocalZone

    /// Creates an outbox on a directory, which is created when a backup has to wait.
    public init(_ path: FilePath, limit: Limit, memory: BackupMemory, timeZone: LocalZone) {
        self.path = path
        self.limit = limit
        self.memory = memory
        self.timeZone = timeZone
    }

    /// The outbox as a folder of backups.
    package var folder: BackupFolder {
        BackupFolder(LocalFolder(path), memory: memory, timeZone: timeZone)
    }

    /// Returns the waiting backups, newest first; none if the directory does not exist.
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
            // The directory belongs to another user, such as root, who used this home directory.
            return []
        }
    }

    /// Returns what waits on this machine for other folders: each folder's address, and its waiting backups.
    ///
    /// - Throws: `FileError`, also if the note of an address is gone; `RemoteError`.
    package func others() async throws -> [(address: String, waiting: [Backup])] {
        let parent = path.removingLastComponent()
        guard try FileInfo.ifPresent(parent) != nil else { return [] }
        var others: [(address: String, waiting: [Backup])] = []
        for name in try Directory.open(parent).names().sorted() {
            let place = parent.appending(name.description)
            if place == path { continue }
            let waiting = try await Outbox(place, limit: limit, memory: memory, timeZone: timeZone)
                .waiting()
            guard !waiting.isEmpty else { continue }
            let note = try File.contents(of: place.appending(Self.addressName), limit: 64 << 10)
            let address = String(decoding: note.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            others.append((address, waiting))
        }
        return others
    }

    /// Creates the directory if it is missing.
    ///
    /// - Parameter address: the remote folder's address.
    /// - Throws: `FileError`.
    package func make(for address: String) throws {
        try LocalFileSystem().createDirectories(path)
        let note = path.appending(Self.addressName)
        guard try FileInfo.ifPresent(note) == nil else { return }
        try LocalFileSystem().write(Array("\(address)\n".utf8), to: note)
    }

    /// Returns the free room for one more backup.
    ///
    /// - Parameters:
    ///   - waiting: the waiting backups.
    ///   - reason: the reason why the new one has to wait.
    /// - Returns: the number of bytes that may still be added.
    /// - Throws: `OutboxError.full`.
    package func room(beside waiting: [Backup], since reason: any Error) throws -> Int64 {
        let size = waiting.reduce(Int64(0)) { $0.addingSaturated($1.size) }
        guard waiting.count < limit.backups, size < limit.bytes else {
            throw full(beside: waiting, since: reason)
        }
        return limit.bytes - size
    }

    /// Returns the error for a full outbox.
    package func full(beside waiting: [Backup], since reason: any Error) -> OutboxError {
        let size = waiting.reduce(Int64(0)) { $0.addingSaturated($1.size) }
        return .full(path, waiting: waiting.count, bytes: size, reason)
    }
}

/// An error that keeps a backup from waiting.
public enum OutboxError: ExplainedError {
    /// The outbox is full: no backup was added, and none was removed.
    case full(FilePath, waiting: Int, bytes: Int64, any Error)

    public var outcome: FailureOutcome {
        switch self {
        case .full(_, _, _, let reason): FailureOutcome(of: reason)
        }
    }

    public var description: String {
        switch self {
        case .full(_, let waiting, let bytes, let reason):
            "no further backup can wait for upload beside \(waiting) of \(byteCount(bytes)): \(explain(reason))"
        }
    }

    public var hint: String? {
        switch self {
        case .full(let path, _, _, _):
            "make the remote folder reachable, or raise the limit; the waiting backups are in '\(printable(path))'"
        }
    }
}
