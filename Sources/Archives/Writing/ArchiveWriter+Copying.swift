internal import Files

extension ArchiveWriter {
    /// Adds an entry of another archive, or a file put together from several archives, with the item's attributes.
    ///
    /// All of its data is verified. Unchanged segments are not compressed again.
    ///
    /// - Parameters:
    ///   - item: the entry of an archive that this program made.
    ///   - progressed: called with the number of bytes just copied.
    /// - Throws: `ArchiveError`, `FileError`; what `progressed` throws. A later call, or `drain()`, may throw too if
    ///   data does not match its manifest.
    public func add(
        copying item: ArchiveItem,
        progressed: (Int64) throws -> Void
    ) throws {
        if let segments = item.segments {
            try item.entry.check(segments)
        }
        guard item.attributes.kind == .file else { return try addSmall(copying: item) }
        guard item.size > Int64(Segment.size) else {
            try addSmall(copying: item)
            return try progressed(item.size)
        }
        beginLarge()
        try item.forEachSegment(to: nil) { part in
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

    private func addSmall(copying item: ArchiveItem) throws {
        guard item.size > 0 else { return try add(item.attributes) }
        try item.forEachSegment(to: nil) { part in
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
