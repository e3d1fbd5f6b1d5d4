internal import Age
internal import Archives
internal import Files
internal import Foundation
internal import Remotes
internal import SystemPackage

/// Looks for archives that increments are built on, in a folder and in its trash.
///
/// Each is looked for by its name and size, then by its place in the lineage: it may have been renamed, been
/// encrypted for others, or a whole backup of the same state may have taken its place. Archives of which
/// nothing is known here are looked into, the likeliest first. One that no key opens, or that is damaged, is
/// passed over as long as there is another.
struct NeedSearch {
    /// An archive that is there.
    enum Found {
        case listed(Backup)
        case trashed(TrashedBackup)

        /// Whether it needs no other.
        var isWhole: Bool {
            switch self {
            case .listed(let backup): !backup.isIncrement
            case .trashed(let entry): !BackupName.isIncrement(entry.name)
            }
        }
    }

    /// Archives that are fetched at once.
    private static let fetchesLimit = 4

    private let folder: BackupFolder
    private var backups: [Backup]
    private let trashed: [TrashedBackup]
    /// Archives that were fetched before they are opened, by name.
    private var fetched: [String: ScratchDirectory] = [:]

    /// Reads the names of a folder and of its trash.
    ///
    /// - Throws: `RemoteError`.
    init(in folder: BackupFolder) async throws {
        self.folder = folder
        backups = await folder.memory.catalog.backups(
            try await folder.remote.list().filter { BackupName.suffix(of: $0.name) != nil },
            in: folder.address,
            timeZone: folder.timeZone
        )
        trashed = (try? await folder.trash.entries()) ?? []
    }

    /// Fetches the archives that an increment is most likely built on, four at a time.
    ///
    /// - Parameters:
    ///   - needs: what the increment says of them.
    ///   - header: the increment's.
    ///   - fetching: called before one is fetched, with its size in bytes.
    /// - Throws: `RemoteError`, `FileError`, `CancellationError`; what is gone, or would not fit, is left to `open`.
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
            // What no key opens is not fetched.
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
                fetched[name] = scratch
                begin()
            }
        }
    }

    /// Opens the archive that an increment is built on.
    ///
    /// - Parameters:
    ///   - need: what the increment says of it.
    ///   - header: the increment's.
    ///   - isInPlace: whether only as much is fetched as is read.
    ///   - fetching: called before all of an archive is fetched, with its size in bytes.
    /// - Returns: the opened archive; `nil` if it is not there.
    /// - Throws: the first error of an archive that may be it, if none is; see `BackupFolder.open`.
    mutating func open(
        _ need: Need,
        of header: ManifestHeader,
        inPlace isInPlace: Bool,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup? {
        var failure: (any Error)?
        for candidate in candidates(for: need, of: header) {
            do {
                let backup = candidate.backup
                if isInPlace || !candidate.likeness.isKnown {
                    let archived = try await look(into: backup, fetching)
                    guard Self.fits(archived.header, need, of: header) else { continue }
                    if isInPlace || backup.file.location != nil { return archived }
                }
                let archived: ArchivedBackup
                if let scratch = fetched.removeValue(forKey: backup.name) {
                    archived = try folder.open(backup, fetchedTo: scratch, holdingTo: nil)
                } else {
                    archived = try await folder.openAlone(
                        backup,
                        holdingTo: nil,
                        fetching: fetching
                    )
                }
                if Self.fits(archived.header, need, of: header) { return archived }
            } catch let error where Self.leavesOthers(error) {
                if candidate.likeness != .unknown { failure = failure ?? error }
            }
        }
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

    /// Looks for the archive that an increment is built on, and opens none that tells itself what it is.
    ///
    /// - Returns: where it is; one in the trash only if none is in the folder. `nil` if it is in neither.
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
        // Elsewhere, what nothing is known of is not fetched to find out.
        return entries(for: need, of: header)
            .first { $0.likeness != .unknown || $0.entry.file.location != nil }
            .map { .trashed($0.entry) }
    }

    /// Whether an error is of one archive alone, and another may be the one that is needed.
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

    /// Looks into an archive, and keeps what it says of itself for the next that is needed.
    private mutating func look(
        into backup: Backup,
        _ fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        let archived = try await folder.openAloneInPlace(
            backup,
            holdingTo: nil,
            fetching: fetching
        )
        if let index = backups.firstIndex(where: { $0.name == backup.name }) {
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
        return found.sorted {
            ($0.likeness.rawValue, distance($0.backup))
                < ($1.likeness.rawValue, distance($1.backup))
        }
    }

    /// Returns the deleted archives that may be it.
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
