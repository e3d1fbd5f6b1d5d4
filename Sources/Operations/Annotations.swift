internal import Files
internal import Foundation
internal import Remotes
internal import SystemPackage

/// What people say of a backup: beside it in the remote folder, so that its archive stays as it is.
struct Annotation: Codable, Equatable {
    /// The archive's size: what is said of another archive of the same name is not meant.
    var size: Int64
    /// When it was said: milliseconds since 1970-01-01 UTC; the last word counts.
    var changed: Int64
    var tags: [String] = []
    var note: String?
    /// Whether the backup is never removed but by name.
    var isPinned = false

    private enum CodingKeys: String, CodingKey {
        case size, changed, tags, note
        case isPinned = "pinned"
    }
}

/// All annotations of a remote folder: JSON files in a hidden subfolder, which together say it all
/// (`Documentation/ArchiveFormat.md`, 8).
///
/// A file is never changed. Whoever has something to say writes a new file with all that was said so
/// far, and removes those that it has read. Two machines that do so at the same time leave two
/// files, and a synchronising program as many copies as it likes: of what they say of one backup, the
/// newest counts.
struct Annotations {
    private struct Content: Codable {
        var format = 1
        var backups: [String: Annotation] = [:]
    }

    static let subfolder = ".grocerydude-notes"
    private static let suffix = ".json"
    private static let sizeLimit: Int64 = 64 << 20

    /// How often to look again where another run removed a file that we were about to read.
    private static let triesLimit = 5

    private let remote: any RemoteFolder
    private var content = Content()
    /// The files that were read.
    private var files: [String] = []

    /// Reads what is there.
    ///
    /// - Throws: `RemoteError`, `FileError`; `OperationError.badAnnotations` where a file is not what
    ///   it should be: it may be what keeps a backup from being removed.
    init(of remote: any RemoteFolder) async throws {
        self.remote = remote
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
        for file in try await remote.list(in: Self.subfolder).sorted(by: { $0.name < $1.name })
        where file.name.hasSuffix(Self.suffix) {
            let found = try await read(file)
            content.backups.merge(found.backups) { $0.changed >= $1.changed ? $0 : $1 }
            files.append(file.name)
        }
    }

    /// What is said of a backup.
    func annotation(of file: RemoteFile) -> Annotation? {
        content.backups[file.name].flatMap { $0.size == file.size ? $0 : nil }
    }

    /// Says of a backup what is said of it.
    func annotate(_ backup: inout Backup) {
        guard let annotation = annotation(of: backup.file) else { return }
        backup.tags = annotation.tags
        backup.note = annotation.note
        backup.isPinned = annotation.isPinned
    }

    /// Changes what is said of a backup, and writes it down.
    ///
    /// The caller has the remote folder locked.
    /// - Throws: `RemoteError`, `FileError`; nothing that was said before is lost then.
    mutating func change(
        _ name: String,
        size: Int64,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) async throws {
        let now = Int64((date.timeIntervalSince1970 * 1000).rounded())
        let old = content.backups[name].flatMap { $0.size == size ? $0 : nil }
        var annotation = old ?? Annotation(size: size, changed: now)
        body(&annotation)
        guard annotation != old else { return }
        // A clock that was set back does not make this the older word.
        annotation.changed = max(now, (old?.changed ?? 0).addingSaturated(1))
        content.backups[name] = annotation
        try await save()
    }

    /// Forgets what is said of backups that are no more.
    mutating func forget(_ names: Set<String>) async throws {
        guard !names.isDisjoint(with: content.backups.keys) else { return }
        for name in names { content.backups[name] = nil }
        try await save()
    }

    private mutating func save() async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(content)
        let partial = remote.staging.appending(LocalFolder.makePartialName())
        do {
            let file = try File.create(partial)
            try data.withUnsafeBytes { try file.write($0, at: 0) }
            try file.sync()
            let name = "\(UInt64.random(in: 0 ... .max))\(Self.suffix)"
            try await remote.upload(partial, as: "\(Self.subfolder)/\(name)")
            for old in files { try await remote.delete("\(Self.subfolder)/\(old)") }
            files = [name]
        } catch {
            try? LocalFileSystem().remove(partial)
            throw error
        }
    }

    private func read(_ file: RemoteFile) async throws -> Content {
        let damaged = OperationError.badAnnotations(remote.address, file: file.name)
        guard file.size <= Self.sizeLimit else { throw damaged }
        var downloaded: ScratchDirectory?
        defer { withExtendedLifetime(downloaded) {} }
        let path: FilePath
        if let location = file.location {
            path = location
        } else {
            let directory = try ScratchDirectory(in: remote.staging)
            downloaded = directory
            path = directory.path.appending("notes")
            try await remote.download("\(Self.subfolder)/\(file.name)", to: path)
        }
        let bytes: [UInt8]
        do {
            // It may have grown since it was listed.
            bytes = try File.contents(of: path, limit: Self.sizeLimit)
        } catch FileError.tooLong {
            throw damaged
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            content.format == 1
        else { throw damaged }
        return content
    }
}
