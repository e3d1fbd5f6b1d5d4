internal import Archives
public import Backups
internal import Files
public import Foundation

/// Lists the content of a backup without extracting it.
public struct ShowBackup: Sendable {
    /// An entry of an archive.
    public struct File: Sendable {
        /// The path, printable.
        public var path: String
        /// `file`, `directory` or `link`.
        public var type: String
        /// The size in bytes.
        public var size: Int64
        /// The compressed size in the archive, in bytes.
        public var compressedSize: Int64
        public var modified: Date
        public var mode: String
    }

    /// The content of a backup.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The manifest's first line; `nil` if another program made the archive.
        public var header: ManifestHeader?
        public var problems: [Problem]
        public var files: [File]
        /// The total size of all files in bytes.
        public var bytes: Int64
        /// The backups of the folder that cannot be restored without this one, the newest first.
        public var neededBy: [Backup]
    }

    private let folder: BackupFolder
    private let context: OperationContext

    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Reads the directory and the manifest of the named backup; see `BackupFolder.find`.
    ///
    /// - Parameters:
    ///   - name: the backup's name as the user gave it.
    ///   - path: the path to list, with all that is below it; `nil` for all.
    ///   - now: the current time, for names that depend on it.
    /// - Returns: the content.
    /// - Throws: `LookingError.noFile` if the backup has nothing at that path; see `BackupFolder.look`.
    public func run(
        _ name: String,
        path: String? = nil,
        now: Date? = nil
    ) async throws -> Outcome {
        let (backup, unreachable) = try await folder.findWithWaiting(name, now: now)
        if let unreachable { context.warnOfUnknown(unreachable) }
        let neededBy =
            try await unreachable == nil
            ? Dependence(
                in: folder,
                among: folder.list().backups,
                goneForGood: false
            )
            .dependants(of: backup) : []
        return try await context.look(at: backup, in: folder) { archived in
            let wanted = path.map { NamedPaths([$0]) }
            var files: [File] = []
            var names: [String] = []
            let trailer = try archived.forEach { item in
                if wanted?.match(item.attributes.path) != nil || wanted == nil {
                    files.append(File(item))
                } else {
                    names.append(item.attributes.path.description)
                }
            }
            if let name = wanted?.names.first, files.isEmpty {
                throw LookingError.noFile(name, in: "'\(backup.displayName)'", among: names)
            }
            return Outcome(
                backup: folder.backup(backup, knowing: archived),
                header: archived.header,
                problems: trailer?.problems ?? [],
                files: files,
                bytes: archived.bytes,
                neededBy: neededBy
            )
        }
    }
}

extension ShowBackup.File {
    /// Describes a file of a stores directory, with the size of its store in bytes if it is one; `nil` for what no
    /// archive can hold.
    init?(_ file: WalkedFile, ofStore size: Int64?) {
        let kind: EntryAttributes.Kind
        switch file.info.kind {
        case _ where size != nil, .file: kind = .file
        case .directory: kind = .directory
        case .link: kind = .link
        case .special: return nil
        }
        let bytes = kind == .directory ? 0 : size ?? file.info.size
        self.init(
            path: file.path.description,
            type: kind.rawValue,
            size: bytes,
            compressedSize: bytes,
            modified: Date(timeIntervalSince1970: Double(file.info.modified) / 1e9),
            mode: ManifestRecord.octal(file.info.mode)
        )
    }

    fileprivate init(_ item: ArchiveItem) {
        self.init(
            path: item.attributes.path.description,
            type: item.attributes.kind.rawValue,
            size: item.size,
            compressedSize: item.entry.compressedSize,
            modified: Date(timeIntervalSince1970: Double(item.attributes.modified) / 1e9),
            mode: ManifestRecord.octal(item.attributes.mode)
        )
    }
}
