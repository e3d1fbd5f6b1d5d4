internal import Age
internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import SystemPackage

/// A full archive of an increment's state, made from archives alone.
struct ConsolidatedArchive {
    /// The increment, with all its base backups.
    let increment: ArchivedBackup
    let compression: Compression
    /// The program's name and version, for the manifest.
    let tool: String
    /// The signers of the archive; `nil` if the increment has no trusted signature.
    let signers: Signers?
    let context: OperationContext

    /// Writes the archive into a new file, which the caller must sync.
    ///
    /// Time, number and entries are those of the increment, so that it can replace it. Its id is new, because it is
    /// another file.
    /// - Parameters:
    ///   - path: the file.
    ///   - recipients: the recipients who may read it; `nil` for no encryption.
    /// - Throws: `ArchiveError`, `ArchivedBackupError` if an archive does not match its manifest; `FileError`,
    ///   `CancellationError`.
    func write(to path: FilePath, for recipients: [Recipient]?) throws {
        guard var header = increment.header, let date = header.date else { return }
        header.id = .random()
        header.format = ManifestHeader.wholeFormat
        header.needs = nil
        header.tool = tool
        header.vouchers = try signers?.vouchers()
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
            // Each segment in flight may need additional memory for patches.
            segments: context.threads + 2
        ) {
            try manifest.append($0)
        }
        defer { archive.close() }
        // Large buffers then return to the system when they are freed, before the verification.
        MemoryArenas.keepFreed()
        context.report(.began(.reading, total: increment.bytes))
        let end = try increment.forEach {
            try archive.add(copying: $0, progressed: context.advance)
        }
        try archive.drain()
        let trailer = try manifest.finish(problems: end?.problems ?? [], recordsState: true)
        guard trailer.state == end?.state else {
            throw ArchivedBackupError.badManifest(
                increment.name,
                reason: "checksum mismatch after applying the increment to its base"
            )
        }
        _ = try manifest.add(to: archive, signing: signers)
        _ = try archive.finish()
        _ = try encrypting?.finish()
    }
}
