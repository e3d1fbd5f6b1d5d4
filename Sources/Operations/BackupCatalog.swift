internal import Files
internal import Foundation
internal import Remotes
internal import Synchronization
public import SystemPackage

/// Remembers when backups were made, so that listing opens no archive twice.
///
/// It is kept in a cache file that may be deleted at any time: it can be made again from the
/// archives, and nothing else depends on it.
public final class BackupCatalog: Sendable {
    private struct Record: Codable {
        var size: Int64
        /// Milliseconds since 1970-01-01 UTC; `nil` for an archive without a manifest.
        var time: Int64?
    }

    private struct State {
        var folders: [String: [String: Record]] = [:]
        var isRead = false
        var isChanged = false
    }

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
        // What cannot be read is listed all the same, with the time of its name.
        guard let date = try? BackupContents.date(of: location, name: file.name) as Date? else {
            return backup(file, nil, timeZone)
        }
        remember(date, of: file, in: address)
        return Backup(file: file, time: date, timeSource: .manifest)
    }

    private func backup(_ file: RemoteFile, _ record: Record?, _ timeZone: TimeZone) -> Backup {
        if let time = record?.time {
            return Backup(
                file: file,
                time: Date(timeIntervalSince1970: Double(time) / 1000),
                timeSource: .manifest
            )
        }
        let time = BackupName.date(of: file.name, in: timeZone)
        return Backup(file: file, time: time, timeSource: time == nil ? nil : .name)
    }

    private func record(of file: RemoteFile, in address: String) -> Record? {
        state.withLock { state in
            read(&state)
            guard let record = state.folders[address]?[file.name], record.size == file.size else {
                return nil
            }
            return record
        }
    }

    /// Remembers when a backup was made.
    func remember(_ date: Date, of file: RemoteFile, in address: String) {
        state.withLock { state in
            read(&state)
            let time = Int64((date.timeIntervalSince1970 * 1000).rounded())
            state.folders[address, default: [:]][file.name] = Record(size: file.size, time: time)
            state.isChanged = true
        }
    }

    /// Forgets the backups of a folder that are not there any more.
    func keepOnly(_ names: Set<String>, in address: String) {
        state.withLock { state in
            read(&state)
            let kept = state.folders[address]?.filter { names.contains($0.key) }
            guard kept?.count != state.folders[address]?.count else { return }
            state.folders[address] = kept
            state.isChanged = true
        }
    }

    /// Writes the cache file where something changed.
    ///
    /// - Throws: `FileError`; the cache is then as it was, and the only harm is a slower list.
    public func save() throws {
        try state.withLock { state in
            guard state.isChanged else { return }
            let data = try JSONEncoder().encode(state.folders)
            try LocalFileSystem().createDirectories(path.removingLastComponent())
            try LocalFileSystem().write(Array(data), to: path)
            state.isChanged = false
        }
    }

    /// A cache that is not there or cannot be read is an empty one.
    private func read(_ state: inout State) {
        guard !state.isRead else { return }
        state.isRead = true
        guard let file = try? File.open(path), let size = try? file.info().size,
            let bytes = try? file.readExactly(count: Int(size), at: 0)
        else { return }
        state.folders =
            (try? JSONDecoder().decode([String: [String: Record]].self, from: Data(bytes))) ?? [:]
    }
}
