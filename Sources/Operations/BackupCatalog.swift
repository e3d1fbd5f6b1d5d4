internal import Files
internal import Foundation
internal import Remotes
internal import Synchronization
public import SystemPackage

/// Remembers what the manifests of backups said, so that listing opens no archive twice, and what
/// the last backup had, so that one that is elsewhere need not be fetched to be compared with.
///
/// It is kept in a cache file that may be deleted at any time: it can be made again from the
/// archives, and nothing else depends on it.
public final class BackupCatalog: Sendable {
    private struct Record: Codable {
        var size: Int64
        /// Milliseconds since 1970-01-01 UTC; `nil` for an archive without a manifest.
        var time: Int64?
        /// Seconds east of UTC where it was made.
        var offset: Int?
        /// `nil` where it was no anomaly.
        var isAnomalous: Bool?
        /// The trailer's digest of all content.
        var content: String?
        var root: ManifestHeader.Root?
        /// Of a file on this machine: one that has another was replaced, though its size is the same.
        var fileState: String?
    }

    /// What a file on this machine gets another of where it is replaced or written to: its inode, and
    /// when it was modified, in nanoseconds since 1970-01-01 UTC.
    ///
    /// One text, since a listing reads a thousand of them.
    private static func fileState(of path: FilePath) -> String? {
        // What cannot be looked at has none.
        guard let info = try? FileInfo(of: path) else { return nil }
        return "\(info.identity.inode) \(info.modified)"
    }

    /// What the newest backup of a folder says that the next one is compared with.
    private struct Baseline: Codable {
        var name: String
        var size: Int64
        var stores: [StoreRows]
    }

    /// What the cache file holds, by the addresses of folders.
    private struct Content: Codable {
        var folders: [String: [String: Record]] = [:]
        var baselines: [String: Baseline] = [:]
    }

    /// Something that was learnt, which is added to whatever other runs have learnt meanwhile.
    private typealias Change = @Sendable (inout Content) -> Void

    private struct State {
        var content = Content()
        var isRead = false
        /// What is in `content` and not in the file yet.
        var changes: [Change] = []

        mutating func change(_ change: @escaping Change) {
            change(&content)
            changes.append(change)
        }
    }

    /// What a hundred thousand backups take is half of it.
    private static let sizeLimit: Int64 = 64 << 20

    /// How long to wait for another run that writes the file: it takes milliseconds.
    private static let patience = Duration.seconds(10)

    private let path: FilePath
    private let state = Mutex(State())

    /// Names the cache file, which need not be there.
    public init(_ path: FilePath) {
        self.path = path
    }

    /// A backup's time: remembered, or read from its manifest if it is on this machine, or told by
    /// its name.
    func backup(_ file: RemoteFile, in address: String, timeZone: TimeZone) -> Backup {
        if let record = record(of: file, in: address) { return backup(file, record, timeZone) }
        guard let location = file.location else { return backup(file, nil, timeZone) }
        var found = backup(file, nil, timeZone)
        do {
            guard let header = try BackupContents.header(of: location, name: file.name) else {
                found.isForeign = true
                return found
            }
            found.take(header)
            remember(found, in: address)
        } catch {
            // What cannot be read is listed all the same, with the time of its name.
            found.isDamaged = true
        }
        return found
    }

    private func backup(_ file: RemoteFile, _ record: Record?, _ timeZone: TimeZone) -> Backup {
        if let time = record?.time {
            var backup = Backup(
                file: file,
                time: Date(timeIntervalSince1970: Double(time) / 1000),
                timeSource: .manifest
            )
            backup.isAnomalous = record?.isAnomalous ?? false
            backup.offset = record?.offset
            backup.content = record?.content
            backup.root = record?.root
            return backup
        }
        let time = BackupName.date(of: file.name, in: timeZone)
        var backup = Backup(file: file, time: time, timeSource: time == nil ? nil : .name)
        backup.isForeign = record != nil
        return backup
    }

    private func record(of file: RemoteFile, in address: String) -> Record? {
        state.withLock { state in
            read(&state)
            guard let record = state.content.folders[address]?[file.name],
                record.size == file.size,
                // What cannot be written in a manifest was not read from one.
                record.time.map(Timestamp.range.contains) ?? true,
                record.offset.map(Timestamp.offsets.contains) ?? true
            else { return nil }
            if let location = file.location {
                guard let known = record.fileState, known == Self.fileState(of: location) else {
                    return nil
                }
            }
            return record
        }
    }

    /// The digest of all that is in a backup; read from its manifest if it is on this machine.
    ///
    /// - Returns: `nil` where it is not known.
    func content(of backup: Backup, in address: String) -> String? {
        if let content = backup.content { return content }
        guard let location = backup.file.location,
            let contents = try? BackupContents(location, name: backup.name),
            let content = try? contents.forEach({ _ in })?.content
        else { return nil }
        var known = backup
        known.content = content
        remember(known, in: address)
        return content
    }

    /// Remembers what the manifest of a backup said, or that it has none.
    func remember(_ backup: Backup, in address: String) {
        let time = backup.timeSource == .manifest ? backup.time : nil
        guard time != nil || backup.isForeign else { return }
        let record = Record(
            size: backup.size,
            time: time.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) },
            offset: backup.offset,
            isAnomalous: backup.isAnomalous ? true : nil,
            content: backup.content,
            root: backup.root,
            fileState: backup.file.location.flatMap(Self.fileState)
        )
        state.withLock { state in
            read(&state)
            state.change { $0.folders[address, default: [:]][backup.name] = record }
        }
    }

    /// Remembers what the backup after this one is compared with.
    func rememberBaseline(_ stores: [StoreRows], of file: RemoteFile, in address: String) {
        let baseline = Baseline(name: file.name, size: file.size, stores: stores)
        state.withLock { state in
            read(&state)
            state.change { $0.baselines[address] = baseline }
        }
    }

    /// What the next backup is compared with: what the newest one says of which that is known.
    ///
    /// One on this machine is asked if it is not remembered. One elsewhere is not fetched for it;
    /// then it is what was remembered last, be it of an older one.
    /// - Parameters:
    ///   - backups: those of the folder, newest first.
    ///   - address: the folder's.
    /// - Returns: `nil` where nothing is known.
    func baseline(after backups: [Backup], in address: String) -> [StoreRows]? {
        let remembered = state.withLock { state in
            read(&state)
            return state.content.baselines[address]
        }
        for backup in backups {
            if backup.name == remembered?.name, backup.size == remembered?.size { break }
            // What has no manifest, or is damaged, tells nothing; the one before it may.
            if let location = backup.file.location,
                let header = try? BackupContents.header(of: location, name: backup.name)
            {
                return header.successorBaseline
            }
        }
        return backups.isEmpty ? nil : remembered?.stores
    }

    /// Forgets the backups of a folder that are not there any more.
    ///
    /// What another run has come to know meanwhile is not forgotten.
    func keepOnly(_ names: Set<String>, in address: String) {
        state.withLock { state in
            read(&state)
            let known = state.content.folders[address].map { Set($0.keys) } ?? []
            let gone = known.subtracting(names)
            guard !gone.isEmpty else { return }
            state.change { content in
                for name in gone { content.folders[address]?[name] = nil }
            }
        }
    }

    /// Adds what was learnt to the cache file, where there is anything.
    ///
    /// Other runs may have added to it since it was read: it is read again, under a lock.
    /// - Throws: `FileError`; the cache is then as it was, and what was learnt is still known here.
    public func save() async throws {
        guard state.withLock({ !$0.changes.isEmpty }) else { return }
        let directory = path.removingLastComponent()
        try LocalFileSystem().createDirectories(directory)
        let lock = try await FileLock.acquire(directory, wait: Self.patience)
        defer { withExtendedLifetime(lock) {} }
        try state.withLock { state in
            var content = readFile()
            for change in state.changes { change(&content) }
            try LocalFileSystem().write(Array(JSONEncoder().encode(content)), to: path)
            state.content = content
            state.changes = []
        }
    }

    private func read(_ state: inout State) {
        guard !state.isRead else { return }
        state.isRead = true
        state.content = readFile()
    }

    /// A cache that is not there or cannot be read is an empty one, and so is one that is absurdly long.
    private func readFile() -> Content {
        guard let bytes = try? File.contents(of: path, limit: Self.sizeLimit) else {
            return Content()
        }
        return (try? JSONDecoder().decode(Content.self, from: Data(bytes))) ?? Content()
    }
}
