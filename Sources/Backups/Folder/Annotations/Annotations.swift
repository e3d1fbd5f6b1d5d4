internal import History
package import Files
package import Foundation
internal import Remotes
internal import SystemPackage

/// All annotations of a remote folder, in JSON files of a hidden subfolder; see
/// `Documentation/Design/ArchiveFormat.md`, 8.
///
/// A file never changes: a writer writes a new file with all annotations, and removes the files that it has read. Two
/// machines may leave two files, and a synchronising program any number of copies. Their annotations of each backup are
/// merged.
package struct Annotations {
    private struct Content: Codable {
        var format = 1
        var backups: [BackupID: Annotation] = [:]
    }

    package static let subfolder = ".grocerydude-notes"
    private static let suffix = ".json"
    /// The prefix of the names of copies in the staging directory.
    private static let copyPrefix = "notes-"
    private static let sizeLimit: Int64 = 64 << 20

    /// The number of tries, since another run may remove a file before it is read.
    private static let triesLimit = 5

    private let folder: any RemoteFolder
    private let staging: FilePath
    /// Whether files elsewhere are copied to the staging directory, so that each is fetched only once.
    private let keepsCopies: Bool
    private var content = Content()
    /// The key of the latest annotation, by the backup's name.
    private var lastByName: [ExactString: BackupID] = [:]
    /// Annotations from other folders, for backups that were moved from there.
    private let remembered: [BackupID: Annotation]
    /// Annotations that this machine wrote to this folder, and that may not be listed yet.
    private let written: [BackupID: Annotation]
    /// The files that were read.
    private var files: [String] = []
    /// An error if the last change may not survive a loss of power.
    private(set) var notSynced: RemoteError?

    /// Reads the annotations of a remote folder.
    ///
    /// - Throws: `RemoteError`, `FileError`; `BackupFolderError.badAnnotations` if a file is malformed. That file may
    ///   hold the pin of a backup.
    init(
        of remote: any RemoteFolder,
        staging: FilePath,
        keepingCopies keepsCopies: Bool = true,
        remembering remembered: [BackupID: Annotation] = [:],
        writing written: [BackupID: Annotation] = [:]
    ) async throws {
        self.remembered = remembered
        self.written = written
        folder = remote.subfolder(Self.subfolder)
        self.staging = staging
        self.keepsCopies = keepsCopies
        for attempt in 1... {
            do {
                try await readAll()
                return
            } catch let error where attempt < Self.triesLimit && Self.isMissing(error) {
                continue
            }
        }
    }

    private static func isMissing(_ error: any Error) -> Bool {
        if case RemoteError.noFile = error { return true }
        return (error as? FileError)?.isMissing ?? false
    }

    private mutating func readAll() async throws {
        content = Content()
        files = []
        var isElsewhere = false
        for file in try await folder.list().sorted(by: { $0.name < $1.name })
        where file.name.hasSuffix(Self.suffix) {
            let found = try await read(file)
            content.backups.merge(found.backups) { $0.merged(with: $1) }
            files.append(file.name)
            isElsewhere = isElsewhere || file.location == nil
        }
        indexNames()
        if isElsewhere, keepsCopies { try? removeOldCopies() }
    }

    private func read(_ file: RemoteFile) async throws -> Content {
        let damaged = BackupFolderError.badAnnotations(folder.address, file: file.name)
        guard file.size <= Self.sizeLimit else { throw damaged }
        var path = file.location
        if path == nil, keepsCopies { path = try await fetched(file) }
        do {
            // The file may have grown since it was listed.
            let bytes =
                if let path {
                    try File.contents(of: path, limit: Self.sizeLimit)
                } else {
                    try await folder.download(file.name, range: 0..<file.size)
                }
            let content = try JSONDecoder().decode(Content.self, from: Data(bytes))
            if content.format == 1 { return content }
        } catch FileError.tooLong {
        } catch is DecodingError {}
        // The local copy may be damaged, not the file.
        if file.location == nil, let path { try? LocalFileSystem().remove(path) }
        throw damaged
    }

    /// Returns the local copy of a remote file.
    ///
    /// It is fetched only once, since files never change.
    private func fetched(_ file: RemoteFile) async throws -> FilePath {
        let copy = staging.appending(Self.copyName(of: file.name))
        if try FileInfo.ifPresent(copy)?.size == file.size { return copy }
        let scratch = try ScratchDirectory(in: staging)
        let path = scratch.path.appending("notes")
        try await folder.download(file.name, to: path)
        try LocalFileSystem().remove(copy)
        do {
            try LocalFileSystem().move(path, to: copy)
        } catch FileError.exists {
            // Another run, which only reads, made the copy first.
        }
        return copy
    }

    /// Keeps a copy of a remote file that was just written, so that it need not be fetched.
    private func keepCopy(_ data: Data, of name: String) throws {
        let scratch = try ScratchDirectory(in: staging)
        let path = scratch.path.appending("notes")
        let file = try File.create(path)
        try data.withUnsafeBytes { try file.write($0, at: 0) }
        try LocalFileSystem().move(path, to: staging.appending(Self.copyName(of: name)))
    }

    /// Hashes the name, since a name from a remote folder is not safe for local files.
    private static func copyName(of name: String) -> String {
        "\(copyPrefix)\(Array(name.utf8).withUnsafeBytes { Digest(of: $0) })"
    }

    /// Removes the copies of files that no longer exist.
    private func removeOldCopies() throws {
        let kept = Set(files.map(Self.copyName))
        let directory = try Directory.open(staging)
        for name in try directory.names()
        where name.description.hasPrefix(Self.copyPrefix) && !kept.contains(name.description) {
            try directory.removeFile(name)
        }
    }

    /// Returns the annotation of a backup.
    package func annotation(of backup: Backup) -> Annotation? {
        let found = keys(of: backup).compactMap { content.backups[$0] }
        let own = backup.id.flatMap { written[$0] }
        guard let first = found.first else {
            return own ?? backup.id.flatMap { remembered[$0] }
        }
        let merged = found.dropFirst().reduce(first) { $0.merged(with: $1) }
        guard let own, own.changed > merged.changed else { return merged }
        return own.merged(with: merged)
    }

    /// The backups whose annotation from this machine, or a later one, has been read back.
    var readAgain: [BackupID] {
        written.compactMap { id, own in
            content.backups[id].map { $0.changed >= own.changed } ?? false ? id : nil
        }
    }

    /// Returns the keys of a backup's annotations: its identity, and its name for annotations written before the
    /// identity was known.
    ///
    /// If neither key exists, and the backup's identity is unknown or that of an archive without a manifest, the latest
    /// annotation under its name is used.
    private func keys(of backup: Backup) -> [BackupID] {
        let keys = [backup.id, Backup.key(of: backup.name)].compactMap(\.self)
            .filter { content.backups[$0] != nil }
        guard keys.isEmpty, backup.id == nil || backup.isForeign else { return keys }
        return lastByName[backup.name.exact].map { [$0] } ?? []
    }

    private mutating func indexNames() {
        lastByName = [:]
        for (id, annotation) in content.backups {
            let other = lastByName[annotation.name.exact].flatMap { content.backups[$0] }
            if other?.changed ?? .min <= annotation.changed {
                lastByName[annotation.name.exact] = id
            }
        }
    }

    /// Adds the annotations to the backups of a folder.
    func annotate(_ backups: inout [Backup]) {
        let isCopy = backups.copies
        for index in backups.indices {
            let backup = backups[index]
            guard let annotation = annotation(of: backup) else { continue }
            backups[index].tags = annotation.tags
            backups[index].note = annotation.note
            backups[index].isPinned = annotation.isPinned
            // A manifest that was read says this itself, and a note proves nothing.
            if backup.isUnknown { backups[index].summary.reason = annotation.reason }
            backups[index].summary.isPartial = backup.isPartial || annotation.isPartial ?? false
            backups[index].noted = annotation.damage(of: backup, isCopy)?.check(of: backup)
        }
    }

    /// Changes the annotation of a backup, and writes it to the folder.
    ///
    /// The caller holds the folder's lock.
    ///
    /// - Throws: `RemoteError`, `FileError`; earlier annotations are not lost then.
    package mutating func change(
        _ backup: Backup,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) async throws {
        if set(backup, at: date, body) { try await save() }
    }

    /// Writes the annotation of a new backup to the folder, and returns it.
    ///
    /// Until the backup has a name in the folder, an annotation under that name is another backup's: a machine that
    /// knows only names would read this one instead.
    ///
    /// - Throws: `RemoteError.exists` if another backup's annotation has the name; see `change`.
    mutating func add(
        _ backup: Backup,
        _ id: BackupID,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) async throws -> Annotation {
        guard !content.backups.contains(where: { $0 != id && $1.name.exact == backup.name.exact })
        else { throw RemoteError.exists(folder.address, name: backup.name) }
        let now = date.milliseconds
        var annotation = content.backups[id] ?? Annotation(name: backup.name, changed: now)
        body(&annotation)
        annotation.name = backup.name
        content.backups[id] = annotation
        try await save()
        return annotation
    }

    /// Takes the damage of a file along when the file gets another name or goes, so that no copy inherits it.
    ///
    /// If that fails, the copies keep it until they are checked.
    mutating func moveDamage(
        of backup: Backup,
        from name: String,
        to newName: String?,
        at date: Date
    ) async {
        guard annotation(of: backup)?.damage?[name] != nil else { return }
        try? await change(backup, at: date) { $0.moveDamage(of: name, to: newName) }
    }

    /// Changes the annotation of a backup in memory; `save` writes it.
    ///
    /// - Returns: whether the annotation changed.
    mutating func set(
        _ backup: Backup,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) -> Bool {
        let now = date.milliseconds
        let oldKeys = keys(of: backup)
        let old = annotation(of: backup)
        var annotation = old ?? Annotation(name: backup.name, changed: now)
        body(&annotation)
        annotation.name = backup.name
        guard annotation != old else { return false }
        // The change stays the newest even if the clock was set back.
        annotation.changed = max(now, (old?.changed ?? 0).addingSaturated(1))
        for key in oldKeys { content.backups[key] = nil }
        content.backups[backup.id ?? oldKeys.first ?? backup.key] = annotation
        return true
    }

    /// Returns the annotation that a backup takes along to another folder; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - others: all backups of the folder; damage found in another copy is left out.
    /// - Returns: the annotation, with the damage of this file alone.
    package func annotationToTake(of backup: Backup, among others: [Backup]) -> Annotation? {
        let damage =
            annotation(of: backup)?.damage(of: backup, others.copies)
            ?? backup.checks.damaged.flatMap(Annotation.Damage.init)
        var annotation = annotation(of: backup)
        if annotation == nil, damage != nil {
            annotation = Annotation(of: backup.name, tags: [], note: nil)
        }
        annotation?.damage = damage.map { [backup.name: $0] }
        return annotation
    }

    /// Stores the annotation of a backup that came from another folder.
    ///
    /// This folder's own annotation stays. Pins and damage of either are kept, and tags are combined.
    /// - Parameters:
    ///   - other: the annotation from the other folder; its damage is that of the copied file.
    ///   - backup: the backup, with its name in this folder.
    ///   - date: now.
    /// - Throws: `RemoteError`, `FileError`; earlier annotations are not lost then.
    package mutating func adopt(
        _ other: Annotation,
        of backup: Backup,
        at date: Date
    ) async throws {
        let oldKeys = keys(of: backup)
        let old = oldKeys.compactMap { content.backups[$0] }.reduce(nil) { merged, next in
            merged.map { $0.merged(with: next) } ?? next
        }
        var annotation = old ?? Annotation(name: backup.name, changed: 0)
        annotation.tags += other.tags.filter { !annotation.tags.contains($0) }
        annotation.note = annotation.note ?? other.note
        annotation.isPinned = annotation.isPinned || other.isPinned
        // For machines that have not fetched the archive; a note of the other folder proves nothing.
        annotation.reason =
            backup.isUnknown ? annotation.reason ?? other.reason : backup.reason
        annotation.isPartial = annotation.isPartial ?? other.isPartial
        if let damage = other.damage?.values.first {
            annotation.damage = (annotation.damage ?? [:]).merging([backup.name: damage]) { $1 }
        }
        guard annotation != old else { return }
        let now = date.milliseconds
        annotation.name = backup.name
        annotation.changed = max(now, (old?.changed ?? 0).addingSaturated(1))
        for key in oldKeys { content.backups[key] = nil }
        content.backups[backup.id ?? oldKeys.first ?? backup.key] = annotation
        try await save()
    }

    /// Forgets the annotations of removed backups, unless another backup has the same identity or name.
    package mutating func forget(_ names: Set<ExactString>, keeping left: [Backup]) async throws {
        let kept = Set(left.flatMap(keys))
        let gone = content.backups.filter {
            // Pinned backups are never removed: one that is gone is merely not listed.
            names.contains($0.value.name.exact) && !kept.contains($0.key) && !$0.value.isPinned
        }
        guard !gone.isEmpty else { return }
        for key in gone.keys { content.backups[key] = nil }
        try await save()
    }

    /// Writes all annotations to the folder.
    ///
    /// - Throws: `RemoteError`, `FileError`; earlier annotations are not lost then.
    mutating func save() async throws {
        indexNames()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(content)
        let partial = staging.appending(PartialName.make())
        do {
            let draft = try File.create(partial)
            try data.withUnsafeBytes { try draft.write($0, at: 0) }
            try draft.sync()
            let name = "\(UInt64.random(in: 0 ... .max))\(Self.suffix)"
            notSynced = try await RemoteError.notSynced {
                let file = try await folder.upload(partial, as: name)
                if file.location == nil { try? keepCopy(data, of: name) }
            }
            // If the sync failed, the file may still have both names.
            if notSynced != nil { try? LocalFileSystem().remove(partial) }
            for old in files {
                let error = try await RemoteError.notSynced { try await folder.delete(old) }
                notSynced = notSynced ?? error
            }
            files = [name]
        } catch {
            try? LocalFileSystem().remove(partial)
            throw error
        }
    }
}
