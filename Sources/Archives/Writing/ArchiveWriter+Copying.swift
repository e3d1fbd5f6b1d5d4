internal import Files

extension ArchiveWriter {
    /// Adds an entry of another archive, or a file that is put together from several, with its present attributes.
    ///
    /// All of its data is verified. Segments are not deflated anew if they are as they were.
    ///
    /// - Parameters:
    ///   - item: the entry, of an archive of ours.
    ///   - progressed: called with how many more bytes were taken.
    /// - Throws: `ArchiveError`, `FileError`; also a later call, or `drain()`, tells of data that is not
    ///   as its manifest says. What `progressed` throws.
    public func add(
        copying item: ArchiveExtractor.Item,
        progressed: (Int64) throws -> Void
    ) throws {
        if let segments = item.segments {
            try ArchiveExtractor.checkTable(segments, of: item.entry)
        }
        guard item.attributes.kind == .file else { return try addSmall(copying: item) }
        guard item.size > Int64(Segment.size) else {
            try addSmall(copying: item)
            return try progressed(item.size)
        }
        beginLarge()
        try item.forEachPart(to: nil) { part in
            let job = try jobToFill()
            var piece = WriteJob.Piece(
                begins: part.destination == 0 ? item.attributes : nil,
                entrySize: item.size,
                largeEntry: largeEntries,
                isLast: part.isLast
            )
            piece.source = .part(part)
            job.append(piece, length: part.length)
            submitFilling()
            try progressed(Int64(part.length))
        }
    }

    private func addSmall(copying item: ArchiveExtractor.Item) throws {
        guard item.size > 0 else { return try add(item.attributes) }
        try item.forEachPart(to: nil) { part in
            var piece = WriteJob.Piece(
                begins: item.attributes,
                entrySize: item.size,
                isLast: true
            )
            piece.source = .part(part)
            try jobToFill(withRoomFor: part.length).append(piece, length: part.length)
        }
    }
}
