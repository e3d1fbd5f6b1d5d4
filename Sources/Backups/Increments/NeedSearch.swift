internal import Age
internal import Archives
internal import Files
internal import Foundation
internal import Remotes
internal import SystemPackage

/// A search for the archives that increments are built on, in a folder and its trash.
///
/// It looks for an archive by name and size, then by its place in the lineage. The archive may have been renamed or
/// encrypted again, or a full backup of the same state may have replaced it. It may have a name that no backup has, as
/// a copy of a synchronising program. Unknown archives are inspected, the most likely first. Archives that are damaged,
/// or that no key opens, are skipped if there is another.
struct NeedSearch {
    /// An archive that was found.
    enum Found {
        case listed(Backup)
        case trashed(TrashedBackup)

        /// Whether the archive needs no other.
        var isWhole: Bool {
            switch self {
            case .listed(let backup): !backup.isIncrement
            case .trashed(let entry): !BackupName.isIncrement(entry.name)
            }
        }
    }

    /// The maximum number of simultaneous fetches.
    private static let fetchesLimit = 4

    private let folder: BackupFolder
    private var backups: [Backup]
    private let trashed: [TrashedBackup]
    /// The archives that were fetched before they are opened, by name.
    private var fetched: [ExactString: ScratchDirectory] = [:]

    /// Reads the names of a folder and of its trash.
    ///
    /// - Throws: `RemoteError`.
    init(in folder: BackupFolder) async throws {
        self.folder = folder
        backups = try await folder.memory.backups(
            try await folder.remote.list().filter {
                BackupName.suffix(of: $0.name) != nil || BackupName.mayBeArchive($0.name)
            },
            in: folder.address,
            timeZone: folder.timeZone
        )
        trashed = (try? await folder.trash.entries()) ?? []
    }

    /// Fetches the archives that an increment is most likely built on, four at a time.
    ///
    /// - Parameters:
    ///   - needs: the increment's descriptions of them.
    ///   - header: the increment's header.
    ///   - fetching: called with the size in bytes of each archive before it is fetched.
    /// - Throws: `RemoteError`, `FileError`, `CancellationError`. Archives that are gone, or would not fit, are left to
    ///   `open`.
    mutating func fetch(
        _ needs: [Need],
        of header: ManifestHeader,
        fetching: (Int64) -> Void
    ) async throws {
        var wanted: [Backup] = []
        for need in needs.reversed() {
            guard let likeliest = candidates(for: need, of: header).first,
                likeliest.likeness.isKnown
            else { continue }
            let backup = likeliest.backup
            // An archive that no key opens is not fetched.
            if backup.file.location == nil, (try? await folder.checkKey(of: backup)) != nil {
                wanted.append(backup)
            }
            if !backup.isIncrement { break }
        }
        let size: Int64 = wanted.reduce(0) { $0.addingSaturated($1.size) }
        guard wanted.count > 1, try size <= Directory.open(folder.workplace).availableSpace()
        else { return }
        wanted.forEach { fetching($0.size) }
        let folder = folder
        try await withThrowingTaskGroup(of: (String, ScratchDirectory?).self) { group in
            var waiting = wanted.map(\.name)[...]
            func begin() {
                guard let name = waiting.popFirst() else { return }
                group.addTask { (name, try await folder.fetch(name)) }
            }
            for _ in 0..<Self.fetchesLimit { begin() }
            while let (name, scratch) = try await group.next() {
                fetched[name.exact] = scratch
                begin()
            }
        }
    }

    /// Opens the archive that an increment is built on.
    ///
    /// - Parameters:
    ///   - need: the increment's description of it.
    ///   - header: the increment's header.
    ///   - isInPlace: whether to fetch only the parts that are read.
    ///   - fetching: called with an archive's size in bytes before the whole archive is fetched.
    /// - Returns: the opened archive; `nil` if it is missing.
    /// - Throws: the first error of an archive that may be the needed one, if none can be opened; see
    ///   `BackupFolder.open`.
    mutating func open(
        _ need: Need,
        of header: ManifestHeader,
        inPlace isInPlace: Bool,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup? {
        var failure: (any Error)?
        // An archive without a trusted signature may be planted beside the needed one.
        var doubtful: ArchivedBackup?
        for candidate in candidates(for: need, of: header) {
            do {
                let backup = candidate.backup
                if isInPlace || !candidate.likeness.isKnown {
                    let archived = try await look(into: backup, fetching)
                    guard Self.fits(archived.header, need, of: header) else { continue }
                    guard folder.keys.distrust(of: archived) == nil else {
                        doubtful = doubtful ?? archived
                        continue
                    }
                    if isInPlace || backup.file.location != nil { return archived }
                }
                let archived: ArchivedBackup
                if let scratch = fetched.removeValue(forKey: backup.name.exact) {
                    archived = try folder.open(backup, fetchedTo: scratch, holdingTo: nil)
                } else {
                    archived = try await folder.openAlone(
                        backup,
                        holdingTo: nil,
                        fetching: fetching
                    )
                }
                guard Self.fits(archived.header, need, of: header) else { continue }
                if folder.keys.distrust(of: archived) == nil { return archived }
                doubtful = doubtful ?? archived
            } catch let error where Self.leavesOthers(error) {
                if candidate.likeness != .unknown { failure = failure ?? error }
            }
        }
        if let doubtful { return doubtful }
        for (entry, _) in entries(for: need, of: header) {
            do {
                let archived = try await folder.open(entry, fetching)
                if Self.fits(archived.header, need, of: header) { return archived }
            } catch let error where Self.leavesOthers(error) {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// Finds the archive that an increment is built on.
    ///
    /// Only archives whose content is unknown are opened.
    ///
    /// - Returns: the archive; one in the trash only if the folder has none. `nil` if neither place has it.
    /// - Throws: `RemoteError`, `FileError`.
    mutating func find(_ need: Need, of header: ManifestHeader) async throws -> Found? {
        for candidate in candidates(for: need, of: header) {
            if candidate.likeness.isKnown { return .listed(candidate.backup) }
            do {
                let archived = try await look(into: candidate.backup) { _ in }
                if Self.fits(archived.header, need, of: header) { return .listed(candidate.backup) }
            } catch let error where Self.leavesOthers(error) {
                if candidate.likeness == .namesake, error.isOfKeys {
                    return .listed(candidate.backup)
                }
            }
        }
        // An unknown remote archive is not fetched for this.
        return entries(for: need, of: header)
            .first { $0.likeness != .unknown || $0.entry.file.location != nil }
            .map { .trashed($0.entry) }
    }

    /// Returns whether an error concerns one archive only, so that another one may still match.
    private static func leavesOthers(_ error: any Error) -> Bool {
        if case RemoteError.noFile = error { return true }
        return error is AgeError || error is ArchiveError || error is ArchivedBackupError
    }

    private static func fits(
        _ found: ManifestHeader?,
        _ need: Need,
        of header: ManifestHeader
    ) -> Bool {
        found?.lineage == header.lineage && found?.number == need.number
            && found?.created == need.created
    }

    /// Inspects an archive, and keeps its facts for the next search.
    private mutating func look(
        into backup: Backup,
        _ fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        let archived = try await folder.openAloneInPlace(
            backup,
            holdingTo: nil,
            fetching: fetching
        )
        if let index = backups.firstIndex(where: { $0.name.exact == backup.name.exact }) {
            backups[index] = backups[index].knowing(archived)
        }
        return archived
    }

    private func candidates(
        for need: Need,
        of header: ManifestHeader
    ) -> [(backup: Backup, likeness: Likeness)] {
        let found = backups.compactMap { backup in
            backup.likeness(to: need, of: header.lineage).map { (backup: backup, likeness: $0) }
        }
        let time = Timestamp.date(rfc3339: need.created) ?? .distantPast
        func distance(_ backup: Backup) -> TimeInterval {
            backup.ownTime.map { abs($0.timeIntervalSince(time)) } ?? Backup.nameTolerance
        }
        // A copy that is damaged, or has another name or size, comes after the archive that the increment was built on.
        func rank(_ one: (backup: Backup, likeness: Likeness)) -> [Double] {
            let backup = one.backup
            let isSame = backup.name.exact == need.name.exact && backup.size == need.size
            return [
                backup.isKnownAsDistrusted ? 1 : 0, backup.archiveDamage == nil ? 0 : 1,
                Double(one.likeness.rawValue), isSame ? 0 : 1, distance(backup),
            ]
        }
        return found.sorted { rank($0).lexicographicallyPrecedes(rank($1)) }
    }

    /// Returns the deleted archives that may be the needed one.
    private func entries(
        for need: Need,
        of header: ManifestHeader
    ) -> [(entry: TrashedBackup, likeness: Likeness)] {
        trashed.compactMap { entry in
            folder.backup(entry).likeness(to: need, of: header.lineage).map {
                (entry: entry, likeness: $0)
            }
        }
        .sorted { $0.likeness.rawValue < $1.likeness.rawValue }
    }
}

extension BackupFolder {
    /// Fetches an archive; `nil` if it is gone.
    fileprivate func fetch(_ name: String) async throws -> ScratchDirectory? {
        let scratch = try ScratchDirectory(in: workplace)
        do {
            try await remote.download(name, to: scratch.path.appending(name))
            return scratch
        } catch RemoteError.noFile {
            return nil
        }
    }
}
