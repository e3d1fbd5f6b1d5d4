internal import Age
internal import Archives
internal import Files
internal import Foundation
internal import Remotes
package import SystemPackage

/// A search for the archives that increments are built on, in a folder and its trash.
///
/// It looks for an archive by name and size, then by its place in the lineage. The archive may have been renamed or
/// encrypted again, or a full backup of the same state may have replaced it. It may have a name that no backup has, as
/// a copy of a synchronising program. Unknown archives are inspected, the most likely first. Archives that are damaged,
/// or that no key opens, are skipped if there is another.
package struct NeedSearch {
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
                group.addTask { (name, try await Self.fetch(name, in: folder)) }
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
                let opening = BackupOpening(folder: folder, backup: backup, limits: nil)
                let archived =
                    if let scratch = fetched.removeValue(forKey: backup.name.exact) {
                        try opening.open(fetchedTo: scratch)
                    } else {
                        try await opening.open(.whole, fetching)
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
                let archived = try await folder.trash.open(entry, fetching)
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
        let archived = try await folder.open(
            backup,
            .parts,
            alone: true,
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
            folder.trash.backup(entry).likeness(to: need, of: header.lineage).map {
                (entry: entry, likeness: $0)
            }
        }
        .sorted { $0.likeness.rawValue < $1.likeness.rawValue }
    }

    /// Fetches an archive; `nil` if it is gone.
    private static func fetch(
        _ name: String,
        in folder: BackupFolder
    ) async throws -> ScratchDirectory? {
        let scratch = try ScratchDirectory(in: folder.workplace)
        do {
            try await folder.remote.download(name, to: scratch.path.appending(name))
            return scratch
        } catch RemoteError.noFile {
            return nil
        }
    }
}

extension NeedSearch {
    /// Opens the archives that an increment is built on, and stores them in it.
    ///
    /// A deleted archive can be used while it is in the trash.
    /// - Throws: `BackupFolderError.missingNeed`; see `BackupFolder.open`.
    static func openNeeds(
        of archived: ArchivedBackup,
        in folder: BackupFolder,
        inPlace isInPlace: Bool = false,
        fetching: (Int64) -> Void
    ) async throws {
        guard let header = archived.header, let needs = header.needs, !needs.isEmpty else { return }
        var search = try await NeedSearch(in: folder)
        if !isInPlace { try await search.fetch(needs, of: header, fetching: fetching) }
        let missing = try await search.open(
            needs,
            of: header,
            into: archived,
            inPlace: isInPlace,
            fetching: fetching
        )
        if let missing { throw await search.missing(missing, of: archived) }
    }

    /// Opens as many of the archives that a damaged increment is built on as can be used, and stores them in it.
    ///
    /// - Returns: the name of the last one that could not be opened; those before it are not opened either.
    /// - Throws: see `BackupFolder.open`; a missing or damaged archive is no error.
    package static func openNeedsToSalvage(
        _ archived: ArchivedBackup,
        in folder: BackupFolder,
        fetching: (Int64) -> Void
    ) async throws -> String? {
        guard let header = archived.header, let needs = header.needs, !needs.isEmpty else {
            return nil
        }
        var search = try await NeedSearch(in: folder)
        let missing = try await search.open(
            needs,
            of: header,
            into: archived,
            inPlace: false,
            passingOverDamaged: true,
            fetching: fetching
        )
        return missing.map { BackupName.display($0.name) }
    }

    /// Opens the archives that an increment is built on, the last one first, and stores them in it.
    ///
    /// - Returns: the first that is missing, at which it stops; `nil` if there is none.
    private mutating func open(
        _ needs: [Need],
        of header: ManifestHeader,
        into archived: ArchivedBackup,
        inPlace isInPlace: Bool,
        passingOverDamaged passesOver: Bool = false,
        fetching: (Int64) -> Void
    ) async throws -> Need? {
        archived.needs = []
        for need in needs.reversed() {
            var part: ArchivedBackup?
            do {
                part = try await open(need, of: header, inPlace: isInPlace, fetching: fetching)
            } catch let error
                where passesOver && (error is ArchiveError || error is ArchivedBackupError)
            {}
            guard let part else { return need }
            archived.needs.insert(part, at: 0)
            if part.header?.isIncrement == false { break }
        }
        return nil
    }

    /// The places of the archives that an increment is built on.
    package struct Whereabouts {
        /// The backups that are only in the trash, the full one first.
        package var trashed: [TrashedBackup] = []
        /// The backups that are neither in the folder nor in its trash, the full one first.
        package var missing: [Need] = []
    }

    /// Finds everything that an increment is built on.
    ///
    /// - Throws: `RemoteError`, `FileError`.
    package static func whereabouts(
        of header: ManifestHeader,
        in folder: BackupFolder
    ) async throws -> Whereabouts {
        var found = Whereabouts()
        guard let needs = header.needs, !needs.isEmpty else { return found }
        var search = try await NeedSearch(in: folder)
        for need in needs.reversed() {
            guard let one = try await search.find(need, of: header) else {
                found.missing.insert(need, at: 0)
                continue
            }
            if case .trashed(let entry) = one { found.trashed.insert(entry, at: 0) }
            // A full backup needs no other.
            if one.isWhole { break }
        }
        return found
    }

    /// Finds everything that a deleted backup is built on.
    ///
    /// - Throws: `RemoteError`, `FileError`; see `BackupFolder.open`.
    package static func whereabouts(
        of entry: TrashedBackup,
        in folder: BackupFolder
    ) async throws -> Whereabouts {
        guard BackupName.isIncrement(entry.name),
            let header = try await folder.trash.open(entry, { _ in }).header
        else { return Whereabouts() }
        return try await whereabouts(of: header, in: folder)
    }

    /// Returns the error with the missing backup, the other backups that need it, and the newest usable full backup of
    /// the same origin.
    private func missing(_ need: Need, of archived: ArchivedBackup) async -> BackupFolderError {
        let backups = ((try? await folder.list()) ?? BackupFolder.Listing()).backups
        let hit = backups.filter {
            $0.name.exact != archived.name.exact && $0.lineage == archived.header?.lineage
                && $0.needs.contains { $0.number == need.number && $0.created == need.created }
        }
        // Another increment may need the missing backup too.
        let header = archived.header
        let isOwn = folder.origin?.isOrigin(header?.origin, header?.originName) ?? false
        let whole = backups.ordinary.first {
            !$0.isIncrement && $0.damage == nil && $0.distrust == nil
                && ($0.origin == header?.origin || isOwn && folder.owns($0))
        }
        return .missingNeed(
            BackupName.display(archived.name),
            need: BackupName.display(need.name),
            address: folder.address,
            others: hit.map(\.displayName),
            whole: whole?.displayName
        )
    }

    /// Returns the backups that an increment is built on, according to the catalog.
    ///
    /// - Parameters:
    ///   - backup: a backup whose needs are known.
    ///   - folder: its folder.
    /// - Returns: the backups to restore it with, the full one first.
    /// - Throws: `BackupFolderError.missingNeed`; `RemoteError`.
    package static func remembered(
        by backup: Backup,
        in folder: BackupFolder
    ) async throws -> [Backup] {
        let others = try await folder.list().backups.filter { $0.name.exact != backup.name.exact }
        var found: [Backup] = []
        for need in backup.needs.reversed() {
            let candidates = others.compactMap { other in
                other.likeness(to: need, of: backup.lineage).map { (other, likeness: $0) }
            }
            // Some remote archives are known by name only.
            let likeliest = candidates.filter { $0.likeness != .unknown }
                .min { $0.likeness.rawValue < $1.likeness.rawValue }
            guard let (other, _) = likeliest else {
                throw BackupFolderError.missingNeed(
                    backup.displayName,
                    need: BackupName.display(need.name),
                    address: folder.address
                )
            }
            found.insert(other, at: 0)
            // A full backup needs no other.
            if !other.isIncrement { break }
        }
        return found
    }
}

extension ManifestHeader {
    /// Returns the archive in a directory that this increment is built on, whatever its name; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - need: the description of it.
    ///   - directory: the directory.
    ///   - folder: the folder whose keys open it.
    /// - Returns: the archive's path.
    /// - Throws: `RemoteError`, `FileError`.
    package func archiveBeside(
        for need: Need,
        in directory: FilePath,
        like folder: BackupFolder
    ) async throws -> FilePath? {
        let other = BackupFolder(
            LocalFolder(directory),
            memory: BackupMemory(catalog: folder.memory.catalog.withoutRecords),
            timeZone: folder.timeZone
        )
        var search = try await NeedSearch(in: other)
        guard case .listed(let backup) = try await search.find(need, of: self) else { return nil }
        return backup.file.location
    }
}
