package import Age
internal import Files
public import Foundation
internal import Remotes
internal import Synchronization
public import SystemPackage

/// A cache of the manifests of backups, so that listing opens no archive twice.
///
/// It also has the rows to compare the next backup with, so that a remote archive need not be fetched for that.
///
/// See `BackupMemory` for the consequences of losing it.
public final class BackupCatalog: Sendable {
    /// A change that is applied on top of the changes of other runs.
    private typealias Change = @Sendable (inout Content) -> Void

    private struct State {
        var content = Content()
        var isRead = false
        /// The addresses of folders that lost backups since the listing before this run.
        var losers: Set<ExactString> = []
        /// The changes to `content` that are not in the cache file yet.
        var changes: [Change] = []

        mutating func change(_ change: @escaping Change) {
            change(&content)
            changes.append(change)
        }
    }

    /// The maximum size in bytes; a hundred thousand backups take half of it.
    private static let sizeLimit: Int64 = 128 << 20

    /// The wait for the lock; another run writes the file within milliseconds.
    private static let patience = Duration.seconds(10)

    /// The minimum time in milliseconds between two records of a folder's listing.
    private static let listingGrain: Int64 = 3_600_000

    /// The keys that open encrypted archives.
    let keys: BackupKeys
    private let path: FilePath
    private let now: Int64?
    private let state = Mutex(State())

    /// Creates a cache on a file, which need not exist.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - now: the time of the listings in this run, to record when a backup was last listed; `nil` to record nothing.
    ///   - keys: the keys that open encrypted archives.
    public init(_ path: FilePath, at now: Date? = nil, keys: BackupKeys = .none) {
        self.path = path
        self.keys = keys
        self.now = now?.milliseconds
    }

    /// Whether no key is trusted here and this machine has none of its own, so that it trusts no backup more than
    /// another.
    public var knowsNobody: Bool { get throws { try keys.signers?.knowNobody() ?? false } }

    /// Returns backups with the remembered facts.
    ///
    /// For an unknown backup the facts come from its manifest if that is on this machine, or else from its name.
    ///
    /// - Throws: what `checkCancellation` throws, which is called for each backup.
    func backups(
        _ files: [RemoteFile],
        in address: String,
        timeZone: LocalZone,
        checkCancellation: @escaping @Sendable () throws -> Void = {}
    ) async throws -> [Backup] {
        var backups = files.map { Backup($0, timeZone: timeZone) }
        let unknown = try backups.indices.filter {
            try checkCancellation()
            return !recall(&backups[$0], in: address) && files[$0].location != nil
        }
        let glances = try await Glance.glances(
            at: unknown.map { files[$0] },
            keys: keys,
            checkCancellation: checkCancellation
        )
        for (index, glance) in zip(unknown, glances) {
            switch glance {
            case .read(let id, let header, let signature):
                backups[index].id = id
                backups[index].isForeign = header == nil
                if let header { backups[index].take(header, signature) }
                remember(backups[index], in: address)
            case .sealed: backups[index].isSealed = true
            // The backup is listed all the same, with the time in its name.
            case .unreadable: glance.mark(&backups[index])
            }
        }
        lookAgain(at: &backups, besides: Set(unknown))
        for index in backups.indices { keys.judge(&backups[index]) }
        return backups
    }

    /// Looks again at the newest remembered archive of each origin: older ones are removed because it exists.
    ///
    /// After a power cut, or as a placeholder of a cloud service, it may have its size and its time, and no content.
    private func lookAgain(at backups: inout [Backup], besides seen: Set<Int>) {
        let remembered = backups.indices.filter {
            backups[$0].file.location != nil && !seen.contains($0)
        }
        for group in Dictionary(grouping: remembered, by: { backups[$0].origin }).values {
            var group = group
            while let place = group.indices.max(by: {
                backups[group[$0]].time ?? .distantPast < backups[group[$1]].time ?? .distantPast
            }) {
                let index = group.remove(at: place)
                guard let glance = Glance(ofEmptied: backups[index].file) else { break }
                glance.mark(&backups[index])
            }
        }
    }

    private func recall(_ backup: inout Backup, in address: String) -> Bool {
        let (file, content) = (backup.file, known)
        guard let sighting = content.folders[address.exact]?.sighting(of: file.name.exact) else {
            return false
        }
        backup.hasOtherSize =
            file.location == nil && file.size != sighting.size && !sighting.isTaken
        guard sighting.size == file.size,
            let summary = content.backups[sighting.summaryKey], summary.isPossible,
            file.location == nil
                || !summary.lacksExtent && sighting.state == Sighting(file, sighting.id, nil)?.state
        else { return false }
        backup.id = sighting.id
        backup.take(summary, summary.time == nil ? nil : sighting.signature)
        return true
    }

    /// Returns the digest of a backup's content, from its manifest if the archive is on this machine.
    ///
    /// - Returns: `nil` if it is unknown.
    func content(of backup: Backup, in address: String) -> String? {
        if let content = backup.content { return content }
        guard let location = backup.file.location,
            let archived = try? ArchivedBackup(location, name: backup.name, keys: keys),
            let content = try? archived.trailer()?.content
        else { return nil }
        var known = backup
        known.summary.content = content
        remember(known, in: address)
        return content
    }

    /// Remembers a backup that was inspected.
    func remember(_ backup: Backup, in address: String) {
        guard backup.timeSource == .manifest || backup.isForeign,
            let sighting = Sighting(backup.file, backup.id, backup.signature)
        else { return }
        let summary = backup.summary
        change {
            var sighting = sighting
            if let known = $0.folders[address.exact]?.files[backup.name.exact],
                known.size == sighting.size
            {
                // Only an upload yields the hash, which shows that another file has taken its place.
                sighting.hash = sighting.hash ?? known.hash
                if known.id == sighting.id { sighting.isTaken = known.isTaken }
            }
            $0.folders[address.exact, default: Folder()].files[backup.name.exact] = sighting
            $0.folders[address.exact]?.gone?[backup.name.exact] = nil
            $0.backups[sighting.summaryKey] = summary
        }
    }

    /// Returns the remembered names of a folder's files.
    func names(in address: String) -> [String] {
        folder(address).files.keys.map(\.text)
    }

    /// The same cache for a look that records no listing, as of a folder that cannot be reached.
    var withoutRecords: BackupCatalog { BackupCatalog(path, keys: keys) }

    /// Returns the files of a folder, without those that this program took away.
    func remembered(in address: String) -> [RemoteFile] {
        folder(address).files.filter { !$0.value.isTaken }.map {
            RemoteFile(name: $0.key.text, size: $0.value.size)
        }
    }

    /// Returns the file of a backup as it was last inspected; `nil` if it never was, or is gone for long.
    func lastSeen(_ name: String, in address: String) -> RemoteFile? {
        guard let sighting = folder(address).sighting(of: name.exact) else { return nil }
        var file = RemoteFile(name: name, size: sighting.size)
        file.hash = sighting.hash
        return file
    }

    /// Returns the identity of the backup that a name had last; `nil` if it is unknown.
    func lastID(of name: String, in address: String) -> BackupID? {
        let folder = folder(address)
        return folder.gone?[name.exact]?.sighting.id ?? folder.taken?[name.exact]?.id
            ?? folder.files[name.exact]?.id
    }

    /// Returns the annotations that backups had in the folders where they were seen.
    ///
    /// Damage belongs to a file. It is dropped if the backup is still in another folder, since it was not moved then.
    /// - Parameter address: the folder that receives the annotations.
    /// - Returns: the annotations by backup.
    func annotations(for address: String) -> [BackupID: Annotation] {
        let content = known
        var annotations = content.annotations
        let damaged = annotations.filter { $1.damage != nil }
        guard !damaged.isEmpty else { return annotations }
        for (other, folder) in content.folders where other != address.exact {
            for (name, sighting) in folder.files
            where damaged[sighting.id] != nil && Self.isThere(name.text, in: other.text, sighting) {
                annotations[sighting.id]?.damage = nil
            }
        }
        return annotations
    }

    /// Returns whether a file still exists in another folder, as far as known, and held the backup when it was last
    /// inspected.
    func isStillThere(_ id: BackupID, _ name: String, in address: String) -> Bool {
        guard let sighting = folder(address).files[name.exact], sighting.id == id else {
            return false
        }
        return Self.isThere(name, in: address, sighting)
    }

    private static func isThere(_ name: String, in address: String, _ sighting: Sighting) -> Bool {
        // Only a listing could miss a remote file: the last one had it.
        guard sighting.state != nil else { return !sighting.isTaken }
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
        guard news != known.annotations.filter({ news.keys.contains($0.key) }) else {
            return
        }
        change { $0.annotations.merge(news) { $1 } }
    }

    /// Returns the recent changes of this machine in a folder.
    func deeds(in address: String) -> Deeds { folder(address).deeds }

    /// Remembers a change of this machine in a folder.
    func remember(in address: String, _ deed: @escaping @Sendable (inout Deeds) -> Void) {
        change { deed(&$0.folders[address.exact, default: Folder()].deeds) }
    }

    private func change(_ change: @escaping Change) {
        state.withLock { state in
            read(&state)
            state.change(change)
        }
    }

    /// Remembers the data to compare the backup after this one with.
    func rememberExpectedData(
        _ data: ExpectedData,
        after backup: Backup,
        of origin: String,
        in address: String
    ) {
        let expected = Expectation(
            id: backup.id,
            stores: data.stores,
            otherFiles: data.otherFiles
        )
        change { $0.folders[address.exact, default: Folder()].expected[origin.exact] = expected }
    }

    /// Returns the data to compare the next backup with.
    ///
    /// If it is not remembered, it is read from an archive on this machine. A remote archive is not fetched: then
    /// the last remembered data is returned, perhaps of an older backup.
    ///
    /// - Parameters:
    ///   - backups: the backups of the folder, newest first.
    ///   - origin: the identity of their origin.
    ///   - address: the folder's address.
    ///   - isListed: whether these are all backups; if not, the remembered one may still exist.
    /// - Returns: the data of the newest known backup.
    func expectedData(
        after backups: [Backup],
        of origin: String,
        in address: String,
        isListed: Bool = true
    ) -> ExpectedData? {
        let remembered = folder(address).expected[origin.exact]
        for backup in backups {
            if let id = backup.id, id == remembered?.id { break }
            // A damaged backup, or one without a manifest, is skipped; the one before it decides.
            if let location = backup.file.location,
                let header = try? ArchivedBackup.glance(
                    at: location,
                    name: backup.name,
                    keys: keys
                ).header
            {
                return header.expectedNext
            }
        }
        return backups.isEmpty && isListed ? nil : remembered?.data
    }

    /// Forgets a folder, and the backups that were seen only there.
    package func forget(_ address: String) {
        change { content in
            content.folders[address.exact] = nil
            content.forgetUnseen()
        }
    }

    /// Forgets files that are gone from a folder.
    ///
    /// A vanished backup is remembered for a while, unless the folder has it under another name. The facts about each file
    /// are kept as long, since a list may lack it for once, and a removed one may come back.
    ///
    /// - Parameters:
    ///   - names: the names of the existing files.
    ///   - address: the folder's address.
    ///   - isMissed: returns whether a backup with this summary counts as vanished.
    func keepOnly(
        _ names: Set<ExactString>,
        in address: String,
        missing isMissed: (BackupSummary) -> Bool = { _ in true }
    ) {
        let now = now
        state.withLock { state in
            read(&state)
            let folder = state.content.folders[address.exact] ?? Folder()
            let gone = folder.files.filter { !names.contains($0.key) }
            let kept = Set(folder.files.filter { names.contains($0.key) }.values.map(\.id))
            let lost = gone.filter { name, sighting in
                !kept.contains(sighting.id) && !folder.isTaken(name, sighting)
                    && state.content.backups[sighting.summaryKey].map(isMissed) ?? false
            }
            if !lost.isEmpty { state.losers.insert(address.exact) }
            let back = folder.back(names, kept)
            let again = names.intersection((folder.gone ?? [:]).keys)
            let isDue = now.map { $0 - (folder.listed ?? .min / 2) >= Self.listingGrain } ?? false
            guard !gone.isEmpty || !back.isEmpty || !again.isEmpty || isDue else { return }
            state.change { content in
                var changed = content.folders[address.exact] ?? Folder()
                if let now {
                    for (name, sighting) in lost { changed.lose(name, sighting, at: now) }
                    for name in back { changed.vanished[name] = nil }
                    changed.forgetOld(at: now)
                    changed.listed = now
                }
                for name in gone.keys { changed.remove(name, at: now ?? 0) }
                for name in again { changed.bringBack(name) }
                content.folders[address.exact] = changed
                content.forgetUnseen()
            }
        }
    }

    /// Remembers for whom a file was encrypted again: its manifest has the recipients of before.
    package func remember(_ recipients: [Recipient], of name: String, in address: String) {
        let recipients = BackupKeys.digest(of: recipients)
        change {
            var folder = $0.folders[address.exact] ?? Folder()
            folder.recipients = folder.recipients ?? [:]
            folder.recipients?[name.exact] = recipients
            $0.folders[address.exact] = folder
        }
    }

    /// Returns for whom a file was encrypted again; `nil` if this program did not do so, as far as it remembers.
    package func recipients(of name: String, in address: String) -> String? {
        folder(address).recipients?[name.exact]
    }

    /// Corrects the recipients of backups that were encrypted again.
    func correctRecipients(of backups: inout [Backup], in address: String) {
        guard let known = folder(address).recipients, !known.isEmpty else { return }
        for index in backups.indices {
            guard let recipients = known[backups[index].name.exact] else { continue }
            backups[index].summary.recipients = recipients
        }
    }

    /// Remembers that this program took a file of a folder away, or put it there, so that the file does not count as
    /// vanished.
    func remember(_ name: String, isTaken: Bool, in address: String) {
        let id = folder(address).sighting(of: name.exact)?.id
        let now = now ?? 0
        change {
            var folder = $0.folders.removeValue(forKey: address.exact) ?? Folder()
            folder.take(name.exact, id, isTaken: isTaken, at: now)
            if isTaken { folder.deeds.take(name) } else { folder.deeds.give(name) }
            // The folder did not fall behind: this program removed its newest backup.
            if isTaken {
                folder.newest = folder.newest.filter { $0.value.name.exact != name.exact }
            }
            $0.folders[address.exact] = folder
        }
    }

    /// Remembers the newest backup of an origin, unless a newer one was seen before.
    ///
    /// - Parameters:
    ///   - newest: the newest backup that exists now.
    ///   - origin: the identity of the origin.
    ///   - address: the folder's address.
    /// - Returns: the name of the newer one; `nil` if there is none.
    func newer(than newest: Backup?, of origin: String, in address: String) -> String? {
        let known = folder(address).newest[origin.exact]
        let time = newest.flatMap(BackupOrder.time)?.milliseconds
        if let known, known.time > time ?? .min { return known.name }
        guard let newest, let time else { return nil }
        let now = Newest(time: time, name: newest.name)
        if now != known {
            change { $0.folders[address.exact, default: Folder()].newest[origin.exact] = now }
        }
        return nil
    }

    /// Returns whether this run found that backups have vanished from a folder.
    func hasJustLost(from address: String) -> Bool {
        state.withLock { $0.losers.contains(address.exact) }
    }

    /// Returns the backups that vanished without this program's doing, with the times when they were last listed.
    func vanished(from address: String) -> [ExactString: Date] {
        folder(address).vanished.mapValues(Date.init(milliseconds:))
    }

    /// Writes all new facts to the cache file, if there are any.
    ///
    /// Other runs may have changed the file since it was read, so it is read again under a lock.
    /// - Throws: `FileError`; the cache file does not change then, and no new facts are forgotten.
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

    private func folder(_ address: String) -> Folder {
        known.folders[address.exact] ?? Folder()
    }

    /// Everything that is known so far.
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

    /// Returns the cache; an empty one if the file is missing, unreadable or too long.
    private func readFile() -> Content {
        guard let bytes = try? File.contents(of: path, limit: Self.sizeLimit) else {
            return Content()
        }
        return (try? JSONDecoder().decode(Content.self, from: Data(bytes))) ?? Content()
    }
}
