internal import Archives
internal import Files
public import Foundation
public import Remotes
internal import SystemPackage

/// Tells what is inside a backup without extracting it.
public struct ShowBackup: Sendable {
    /// An entry of an archive.
    public struct File: Sendable {
        /// The path, printable.
        public var path: String
        /// `file`, `directory` or `link`.
        public var type: String
        /// Bytes.
        public var size: Int64
        /// Bytes in the archive.
        public var compressedSize: Int64
        public var modified: Date
        public var mode: String
    }

    /// What is inside.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// `nil` where the archive was made by another program.
        public var header: ManifestHeader?
        public var problems: [Problem]
        public var files: [File]
        /// Bytes in all files.
        public var bytes: Int64
    }

    private let remote: any RemoteFolder
    private let catalog: BackupCatalog
    private let timeZone: TimeZone
    private let context: OperationContext

    public init(
        in remote: any RemoteFolder,
        catalog: BackupCatalog,
        timeZone: TimeZone,
        context: OperationContext
    ) {
        self.remote = remote
        self.catalog = catalog
        self.timeZone = timeZone
        self.context = context
    }

    /// Reads a backup's directory and manifest.
    ///
    /// - Parameters:
    ///   - name: its name, any unique part of it, or `latest`.
    ///   - now: what is later is `latest` only where there is nothing else.
    /// - Returns: what is inside.
    /// - Throws: `OperationError`, `ArchiveError`, `RemoteError`.
    public func run(_ name: String, now: Date? = nil) async throws -> Outcome {
        let backup = try await ListBackups(in: remote, catalog: catalog, timeZone: timeZone).find(
            name,
            now: now
        )
        let archive = try await FetchedArchive.fetch(backup, from: remote, context)
        defer { withExtendedLifetime(archive) {} }
        let contents = try BackupContents(archive.path, name: backup.name)
        catalog.learn(contents, of: backup, in: remote.address)
        var files: [File] = []
        var bytes: Int64 = 0
        let trailer = try contents.forEach { item in
            if item.attributes.kind == .file { bytes += item.entry.size }
            files.append(
                File(
                    path: item.attributes.path.description,
                    type: item.attributes.kind.rawValue,
                    size: item.entry.size,
                    compressedSize: item.entry.compressedSize,
                    modified: Date(timeIntervalSince1970: Double(item.attributes.modified) / 1e9),
                    mode: FileRecord.octal(item.attributes.mode)
                )
            )
        }
        return Outcome(
            backup: backup,
            header: contents.header,
            problems: trailer?.problems ?? [],
            files: files,
            bytes: bytes
        )
    }
}
