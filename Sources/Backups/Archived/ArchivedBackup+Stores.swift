internal import Archives

extension ArchivedBackup {
    /// The first bytes of every SQLite database (https://www.sqlite.org/fileformat.html, 1.3).
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Counts the stores in it: as its manifest says, else the files that begin as SQLite's do.
    ///
    /// - Throws: `ArchiveError`.
    package func countStores() throws -> Int {
        if let header { return header.stores.count }
        var count = 0
        try forEach { item in
            guard item.attributes.kind == .file, item.entry.size >= 100 else { return }
            var start: [UInt8] = []
            try reader.read(item.entry) { part in
                start += part.prefix(Self.magic.count - start.count)
                return start.count < Self.magic.count
            }
            if start == Self.magic { count += 1 }
        }
        return count
    }
}
