internal import Age
internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import SystemPackage

/// A whole archive of the state that an increment has, made of archives alone.
struct ConsolidatedArchive {
    /// The increment, with all that it is built on.
    let increment: ArchivedBackup
    let compression: Compression
    /// The program's name and version, for the manifest.
    let tool: String
    let context: OperationContext

    /// Writes it into a new file, which is the caller's to sync.
    ///
    /// Time, number and entries are those of the increment, so that it stands in its place; its identity is
    /// its own, since it is another file.
    /// - Parameters:
    ///   - path: the file.
    ///   - recipients: those who may read it; `nil` for everybody.
    /// - Throws: `ArchiveError`, `ArchivedBackupError` if an archive is not what its manifest says;
    ///   `FileError`, `CancellationError`.
    func write(to path: FilePath, for recipients: [Recipient]?) throws {
        guard var header = increment.header, let date = header.date else { return }
        header.id = .random()
        header.format = ManifestHeader.wholeFormat
        header.needs = nil
        header.tool = tool
        let file = try File.create(path)
        let encrypting = try recipients.map {
            try EncryptingSink(to: file, for: $0, threads: context.threads)
        }
        defer { encrypting?.close() }
        let manifest = ManifestWriter(
            modified: date,
            compression: compression,
            in: path.removingLastComponent()
        )
        try manifest.begin(header)
        let sink: any ByteSink = encrypting ?? file
        let archive = ArchiveWriter(
            to: sink,
            compression: compression,
            threads: context.threads,
            // Each segment in flight may have bytes of patches besides.
            segments: context.threads + 2
        ) {
            try manifest.append($0)
        }
        defer { archive.close() }
        // The buffers then go back to the system as they are freed, before all is verified.
        MemoryArenas.keepFreed()
        context.report(.began(.reading, total: increment.bytes))
        let told = try increment.forEach {
            try archive.add(copying: $0, progressed: context.advance)
        }
        try archive.drain()
        let trailer = try manifest.finish(problems: told?.problems ?? [], tellsState: true)
        guard trailer.state == told?.state else {
            throw ArchivedBackupError.badManifest(
                increment.name,
                reason: "put together with what it is built on, it is not what was saved"
            )
        }
        try archive.add(manifest.entry)
        _ = try archive.finish()
        _ = try encrypting?.finish()
    }
}
