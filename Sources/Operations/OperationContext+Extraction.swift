internal import Archives
internal import Backups
internal import Files
internal import SystemPackage

extension OperationContext {
    /// Extracts some entries of a backup into a scratch directory, under their paths.
    ///
    /// Owners are given only by who may.
    ///
    /// - Parameters:
    ///   - items: the entries.
    ///   - scratch: the directory.
    ///   - place: the path to tell if they would not fit there.
    ///   - syncing: when files are flushed to the disk.
    ///   - adjust: changes the attributes that an entry gets.
    /// - Returns: the bytes of the files.
    /// - Throws: `OperationError.noSpace` before anything is written; `ArchiveError`, `FileError`,
    ///   `CancellationError`.
    @discardableResult
    func extract(
        _ items: [ArchiveExtractor.Item],
        into scratch: FilePath,
        at place: FilePath,
        syncing: ArchiveExtractor.Syncing,
        adjusting adjust: (inout EntryAttributes) -> Void = { _ in }
    ) throws -> Int64 {
        let size = items.reduce(0) { $0 + ($1.attributes.kind == .file ? $1.size : 0) }
        let directory = try Directory.open(scratch)
        let available = try directory.availableSpace()
        guard size <= available else {
            throw OperationError.noSpace(place, needed: size, available: available)
        }
        report(.began(.extracting, total: size))
        let extractor = ArchiveExtractor(
            into: directory,
            syncing: syncing,
            threads: threads,
            progressed: advance
        )
        defer { extractor.close() }
        for var item in items {
            if !ArchivedBackup.mayGiveAway { item.attributes.owner = nil }
            adjust(&item.attributes)
            try extractor.extract(item)
        }
        try extractor.finish()
        return size
    }
}
