public import Files

extension ArchiveExtractor {
    /// The lost data of an entry.
    public enum Loss: Sendable, Equatable {
        /// The entry is lost completely.
        case all(reason: String)
        /// The lost segments of a file, which are zeros now, and the number of all segments.
        case segments([Int], of: Int)
    }

    /// Restores the verified data of an entry; not to be mixed with `extract`.
    ///
    /// - Parameters:
    ///   - item: the entry.
    ///   - damagedName: returns another name for an incomplete file, so that it is not mistaken for the complete one.
    /// - Returns: the lost data; `nil` if nothing was lost.
    /// - Throws: `FileError` if the directory cannot be written; what `progressed` throws.
    public func salvage(
        _ item: ArchiveItem,
        damagedName: (FileName) -> FileName
    ) throws -> Loss? {
        guard item.attributes.kind == .file, item.size > 0, item.segments != nil,
            item.entry.isPlain
        else { return try salvageWhole(item) }
        let buffers = SegmentBuffers()
        var (lost, count) = ([Int](), 0)
        let trouble = try trouble {
            try item.forEachSegmentTolerantly { part in
                if (try? buffers.verifiedContent(of: part)) == nil { lost.append(count) }
                count += 1
            }
        }
        if let trouble { return .all(reason: trouble) }
        if lost.count == count { return .all(reason: "none of its data verifies") }
        let path = item.attributes.path
        let name = lost.isEmpty ? path.name : damagedName(path.name)
        guard let file = try target?.parent(of: path).createFile(name) else { return nil }
        try item.forEachSegmentTolerantly { part in
            if let bytes = try? buffers.verifiedContent(of: part) {
                try file.write(bytes, at: part.destination)
            }
            try progressed(Int64(part.length))
        }
        try file.truncate(to: item.size)
        try item.finish(file, .each)
        return lost.isEmpty ? nil : .segments(lost, of: count)
    }

    /// Restores an entry only if all of it verifies.
    private func salvageWhole(_ item: ArchiveItem) throws -> Loss? {
        let reason = try trouble {
            guard item.attributes.kind == .file, item.entry.size > 0 else { return }
            try item.entry.archive.read(item.entry) { _ in true }
        }
        if let reason { return .all(reason: reason) }
        do {
            try extract(item)
            try flush()
            return nil
        } catch let error as ArchiveError {
            return .all(reason: error.description)
        }
    }

    /// Returns the reason why an archive cannot be read; `nil` if it can.
    private func trouble(_ body: () throws -> Void) throws -> String? {
        do {
            try body()
            return nil
        } catch let error where error is ArchiveError || error is FileError {
            return explain(error)
        }
    }
}

extension ArchiveItem {
    /// Calls `body` for each segment as `forEachSegment` does.
    ///
    /// Each patch is used as far as it verifies.
    fileprivate func forEachSegmentTolerantly(_ body: (FileSegment) throws -> Void) throws {
        let buffers = SegmentBuffers()
        let overlays = Overlay.Pool()
        var cursors = (patched?.patches ?? []).map { patch in
            try? PatchCursor(patch, overlays, upTo: buffers.verifiedSize(of: patch))
        }
        var plain = self
        plain.patched?.patches = []
        var index = 0
        try plain.forEachSegment(to: nil) { part in
            var part = part
            for number in cursors.indices {
                do {
                    try cursors[number]?.takeRuns(ofSegment: index, into: &part.overlay)
                } catch {
                    cursors[number] = nil
                }
            }
            index += 1
            try body(part)
        }
    }
}
