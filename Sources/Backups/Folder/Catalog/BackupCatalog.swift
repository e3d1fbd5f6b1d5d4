internal import Age
internal import Files
public import Foundation
internal import Remotes
internal import Synchronization
public import SystemPackage

/// A cache of the manifests of backups, so that listing opens no archive twice, and of the rows that the
/// next backup is compared with, so that an archive elsewhere need not be fetched for it.
///
/// See `BackupMemory` for the consequences of losing it.
public final class BackupCatalog: Sendable {
    /// A piece of knowledge that is added to whatever other runs have learnt meanwhile.
    private typealias Change = @Sendable (inout Content) -> Void

    private struct State {
        var content = Content()
        var isRead = false
        /// The changes to `content` that are not in the file yet.
        var changes: [Change] = []

        mutating func change(_ change: @escaping Change) {
            change(&content)
            changes.append(change)
        }
    }

    /// Bytes; a hundred thousand backups take half of it.
    private static let sizeLimit: Int64 = 64 << 20

    /// Another run writes the file within milliseconds.
    private static let patience = Duration.seconds(10)

    /// The least time between two notes of when a folder was listed.
    private static let listingGrain: Int64 = 3_600_000
    /// How long a backup is remembered that has gone.
    private static let vanishedLimit: Int64 = 30 * 86_400_000

    /// What opens encrypted archives.
    let keys: BackupKeys
    private let path: FilePath
    private let now: Int64?
    private let state = Mutex(State())

    /// Names the cache file, which need not be there.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - now: when folders are listed, to tell later when a backup was there last; `nil` if nobody asks.
    ///   - keys: what opens encrypted archives.
    public init(_ path: FilePath, at now: Date? = nil, keys: BackupKeys = .none) {
        self.path = path
        self.keys = keys
        self.now = now.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) }
    }

    /// Returns backups with everything that is remembered of them; else with what their manifests say if they
    /// are on this machine, or their names.
    func backups(_ files: [RemoteFile], in address: String, timeZone: TimeZone) async -> [Backup] {
        var backups = files.map { Backup($0, timeZone: timeZone) }
        let unknown = backups.indices.filter {
            !recall(&backups[$0], in: address) && files[$0].location != nil
        }
        let glances = await Glance.glances(at: unknown.map { files[$0] }, keys: keys)
        for (index, glance) in zip(unknown, glances) {
            switch glance {
            case .read(let id, let header):
                backups[index].id = id
                backups[index].isForeign = header == nil
                if let header { backups[index].take(header) }
                remember(backups[index], in: address)
            case .sealed: backups[index].isSealed = true
            case .unreadable(let isCutOff):
                // It is listed all the same, with the time of its name.
                backups[index].isUnreadable = true
                backups[index].isCutOff = isCutOff
            }
        }
        return backups
    }

    private func recall(_ backup: inout Backup, in address: String) -> Bool {
        let (file, content) = (backup.file, known)
        guard let sighting = content.files[address]?[file.name], sighting.size == file.size,
            let facts = content.backups[sighting.id], facts.isPossible,
            file.location == nil || sighting.state == Sighting(file, sighting.id)?.state
        else { return false }
        backup.id = sighting.id
        backup.content = facts.content
        backup.root = facts.root
        backup.exclusions = facts.exclusions
        guard let time = facts.time else {
            backup.isForeign = true
            return true
        }
        backup.time = Date(timeIntervalSince1970: Double(time) / 1000)
        backup.timeSource = .manifest
        backup.offset = facts.offset
        backup.isAnomalous = facts.isAnomalous ?? false
        backup.reason = facts.reason
        backup.isPartial = facts.isPartial ?? false
        backup.origin = facts.origin
        backup.lineage = facts.lineage
        backup.number = facts.number
        backup.needs = facts.needs ?? []
        return true
    }

    /// Returns the digest of everything in a backup, read from its manifest if it is on this machine.
    ///
    /// - Returns: `nil` if it is not known.
    func content(of backup: Backup, in address: String) -> String? {
        if let content = backup.content { return content }
        guard let location = backup.file.location,
            let archived = try? ArchivedBackup(location, name: backup.name, keys: keys),
            let content = try? archived.trailer()?.content
        else { return nil }
        var known = backup
        known.content = content
        remember(known, in: address)
        return content
    }

    /// Remembers a backup that was looked at.
    func remember(_ backup: Backup, in address: String) {
        let time = backup.timeSource == .manifest ? backup.time : nil
        guard time != nil || backup.isForeign, let sighting = Sighting(backup.file, backup.id)
        else { return }
        let facts = Facts(
            time: time.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) },
            offset: backup.offset,
            isAnomalous: backup.isAnomalous ? true : nil,
            reason: backup.reason,
            isPartial: backup.isPartial ? true : nil,
            content: backup.content,
            root: backup.root,
            exclusions: backup.exclusions,
            origin: backup.origin,
            lineage: backup.lineage,
            number: backup.number,
            needs: backup.needs.isEmpty ? nil : backup.needs
        )
        change {
            var sighting = sighting
            if let known = $0.files[address]?[backup.name], known.id == sighting.id,
                known.size == sighting.size
            {
                // Only an upload tells it.
                sighting.hash = sighting.hash ?? known.hash
                sighting.isTaken = known.isTaken
            }
            $0.files[address, default: [:]][backup.name] = sighting
            $0.backups[sighting.id] = facts
        }
    }

    /// Returns the names of a folder's files, as far as they are remembered.
    func names(in address: String) -> [String] {
        known.files[address].map { Array($0.keys) } ?? []
    }

    /// Returns the file of a backup as it was when it was last looked at; `nil` if it never was.
    func lastSeen(_ name: String, in address: String) -> RemoteFile? {
        guard let sighting = known.files[address]?[name] else { return nil }
        var file = RemoteFile(name: name, size: sighting.size)
        file.hash = sighting.hash
        return file
    }

    /// Returns the annotations that backups had in the folders that they were seen in.
    ///
    /// Damage is that of a file, and does not come along if a backup is still in another folder: it was not
    /// moved.
    /// - Parameter address: the folder that wants to know them.
    /// - Returns: the annotations, by backup.
    func annotations(for address: String) -> [BackupID: Annotation] {
        let content = known
        var annotations = content.annotations ?? [:]
        for (id, annotation) in annotations where annotation.damage != nil {
            let isCopy = content.files.contains { other, files in
                other != address
                    && files.contains { $1.id == id && Self.isThere($0, in: other, $1) }
            }
            if isCopy { annotations[id]?.damage = nil }
        }
        return annotations
    }

    /// Returns whether a file of another folder on this machine is there, which held a backup when it was looked at.
    func isStillThere(_ id: BackupID, _ name: String, in address: String) -> Bool {
        guard let sighting = known.files[address]?[name], sighting.id == id else { return false }
        return Self.isThere(name, in: address, sighting)
    }

    private static func isThere(_ name: String, in address: String, _ sighting: Sighting) -> Bool {
        // Of a file elsewhere, only a list would tell.
        guard sighting.state != nil else { return false }
        let path = FilePath(address).appending(name)
        return (try? FileInfo.ifPresent(path)) != nil
    }

    /// Remembers the annotations of some backups.
    func remember(_ annotations: Annotations, of backups: [Backup]) {
        var found: [BackupID: Annotation] = [:]
        for backup in backups {
            if let id = backup.id { found[id] = annotations.annotation(of: backup) }
        }
        let news = found
        guard news != (known.annotations ?? [:]).filter({ news.keys.contains($0.key) }) else {
            return
        }
        change { $0.annotations = ($0.annotations ?? [:]).merging(news) { $1 } }
    }

    /// Returns what this machine did in a folder lately.
    func deeds(in address: String) -> Deeds { known.deeds?[address] ?? Deeds() }

    /// Remembers what this machine did in a folder.
    func remember(in address: String, _ deed: @escaping @Sendable (inout Deeds) -> Void) {
        change {
            var deeds = $0.deeds?[address] ?? Deeds()
            deed(&deeds)
            $0.deeds = ($0.deeds ?? [:]).merging([address: deeds]) { $1 }
        }
    }

    private func change(_ change: @escaping Change) {
        state.withLock { state in
            read(&state)
            state.change(change)
        }
    }

    /// Remembers the rows that the backup after this one is compared with.
    package func rememberExpectedRows(_ rows: [StoreRows], after backup: Backup, in address: String)
    {
        change { $0.expected[address] = Expectation(id: backup.id, stores: rows) }
    }

    /// Looks for the rows to compare the next backup with.
    ///
    /// An archive on this machine is asked if its rows are not remembered. One elsewhere is not fetched;
    /// then the rows are the last that were remembered, perhaps of an older backup.
    ///
    /// - Parameters:
    ///   - backups: those of the folder, newest first.
    ///   - address: the folder's.
    ///   - isListed: whether these are all; if not, there may be the one that is remembered.
    /// - Returns: the rows of the newest known one.
    package func expectedRows(
        after backups: [Backup],
        in address: String,
        isListed: Bool = true
    ) -> [StoreRows]? {
        let remembered = known.expected[address]
        for backup in backups {
            if let id = backup.id, id == remembered?.id { break }
            // A damaged backup, or one without a manifest, tells nothing; the one before it may.
            if let location = backup.file.location,
                let header = try? ArchivedBackup.glance(
                    at: location,
                    name: backup.name,
                    keys: keys
                ).header
            {
                return header.successorRows
            }
        }
        return backups.isEmpty && isListed ? nil : remembered?.stores
    }

    /// Forgets a folder, and the backups that were seen nowhere else.
    package func forget(_ address: String) {
        change { content in
            content.files[address] = nil
            content.listed?[address] = nil
            content.vanished?[address] = nil
            content.deeds?[address] = nil
            content.expected[address] = nil
            let seen = Set(content.files.values.flatMap { $0.values.map(\.id) })
            content.backups = content.backups.filter { seen.contains($0.key) }
        }
    }

    /// Forgets the files of a folder that are gone, but none that another run has seen meanwhile; that a
    /// backup has gone is remembered for a while, unless it is there under another name.
    func keepOnly(_ names: Set<String>, in address: String) {
        let now = now
        state.withLock { state in
            read(&state)
            let files = state.content.files[address] ?? [:]
            let gone = files.filter { !names.contains($0.key) }
            let kept = Set(files.filter { names.contains($0.key) }.values.map(\.id))
            let lost = gone.filter { !kept.contains($0.value.id) && $0.value.isTaken != true }.map(
                \.key
            )
            let back = (state.content.vanished?[address] ?? [:]).keys.filter(names.contains)
            let listed = state.content.listed?[address]
            let isDue = now.map { $0 - (listed ?? .min / 2) >= Self.listingGrain } ?? false
            guard !gone.isEmpty || !back.isEmpty || isDue else { return }
            state.change { content in
                for name in gone.keys { content.files[address]?[name] = nil }
                let seen = Set(content.files.values.flatMap { $0.values.map(\.id) })
                content.backups = content.backups.filter { seen.contains($0.key) }
                guard let now else { return }
                var vanished = content.vanished?[address] ?? [:]
                for name in lost { vanished[name] = listed ?? now }
                for name in back { vanished[name] = nil }
                vanished = vanished.filter { now - $0.value < Self.vanishedLimit }
                content.vanished = (content.vanished ?? [:]).merging([address: vanished]) { $1 }
                content.listed = (content.listed ?? [:]).merging([address: now]) { $1 }
            }
        }
    }

    /// Remembers that this program took a file of a folder away, or brought it back: nobody is to wonder
    /// where it is.
    func remember(_ name: String, isTaken: Bool, in address: String) {
        change {
            $0.files[address]?[name]?.isTaken = isTaken ? true : nil
            $0.vanished?[address]?[name] = nil
        }
    }

    /// Returns the backups that have gone from a folder without our doing, and when each was last seen.
    func vanished(from address: String) -> [String: Date] {
        (known.vanished?[address] ?? [:]).mapValues {
            Date(timeIntervalSince1970: Double($0) / 1000)
        }
    }

    /// Writes everything that was learnt to the cache file, if there is anything.
    ///
    /// Other runs may have added to it since it was read: it is read again, under a lock.
    /// - Throws: `FileError`; the cache file is then as it was, and nothing that was learnt is forgotten.
    public func save() async throws {
        guard state.withLock({ !$0.changes.isEmpty }) else { return }
        let directory = path.removingLastComponent()
        try LocalFileSystem().createDirectories(directory)
        try await FileLock.withLock(on: directory, wait: Self.patience) {
            try state.withLock { state in
                var content = readFile()
                for change in state.changes { change(&content) }
                try LocalFileSystem().write(Array(JSONEncoder().encode(content)), to: path)
                state.content = content
                state.changes = []
            }
        }
    }

    /// Everything that is known by now.
    private var known: Content {
        state.withLock { state in
            read(&state)
            return state.content
        }
    }

    private func read(_ state: inout State) {
        guard !state.isRead else { return }
        state.isRead = true
        state.content = readFile()
    }

    /// Returns the cache; an empty one if it is not there, cannot be read or is absurdly long.
    private func readFile() -> Content {
        guard let bytes = try? File.contents(of: path, limit: Self.sizeLimit) else {
            return Content()
        }
        return (try? JSONDecoder().decode(Content.self, from: Data(bytes))) ?? Content()
    }
}
