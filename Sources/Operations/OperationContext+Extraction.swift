internal import Archives
internal import Backups
internal import Files
internal import SystemPackage

extension OperationContext {
    /// Extracts some entries of a backup into a scratch directory at their paths.
    ///
    /// - Parameters:
    ///   - items: the entries.
    ///   - scratch: the directory.
    ///   - place: the path to report if the files would not fit there.
    ///   - syncing: when files are flushed to the disk.
    ///   - rules: the rules for owners and modes.
    ///   - adjust: changes the attributes that the rules give an entry.
    /// - Returns: the total size of the files in bytes.
    /// - Throws: `OperationError.noSpace` before anything is written; `ArchiveError`, `FileError`, `CancellationError`.
    @discardableResult
    func extract(
        _ items: [ArchiveItem],
        into scratch: FilePath,
        at place: FilePath,
        syncing: ArchiveItem.Syncing,
        by rules: AttributeRules = AttributeRules(),
        adjusting adjust: (inout EntryAttributes) -> Void = { _ in }
    ) throws -> Int64 {
        let size = items.reduce(0) { $0 + ($1.attributes.kind == .file ? $1.size : 0) }
        let directory = try Directory.open(scratch)
        let available = try directory.availableSpace()
        let needed = items.reduce(0) {
            $0 + ($1.attributes.kind == .file ? $1.allocatedSize : 0)
        }
        guard needed <= available else {
            throw OperationError.noSpace(place, needed: needed, available: available)
        }
        report(.began(.extracting, total: size))
        let extractor = ArchiveExtractor(
            into: directory,
            syncing: syncing,
            threads: threads,
            progressed: advance
        )
        defer { extractor.close() }
        var rules = rules
        for var item in items {
            try rules.apply(to: &item.attributes)
            adjust(&item.attributes)
            if reportsDetails, syncing != .never {
                reportDetail("extracts '\(item.attributes.path)'")
            }
            try extractor.extract(item)
        }
        try extractor.finish()
        if syncing != .never { rules.remarks.forEach(note) }
        return size
    }
}
