package import Archives
package import Files
internal import Stores

/// A file, directory or link in an archive, as the archive describes it.
package struct ArchivedItem: Sendable {
    package var path: RelativePath
    /// The type: `file`, `directory` or `link`.
    package var type: String
    package var mode: UInt16
    /// The user and group; `nil` if they are not known.
    package var owner: Owner?
    /// The modification time in nanoseconds since 1970-01-01 UTC.
    package var modified: Int64
    /// The size in bytes.
    package var size: Int64
    /// The SHA-256 of each segment; `nil` in an archive without a manifest.
    package var digests: [Digest]?
    /// The CRC-32 of the content; `nil` if later archives patch it.
    package var checksum: UInt32?
    /// Whether it is a store.
    package var isStore: Bool
}

extension ArchivedBackup {
    /// Lists everything in the backup except its manifest.
    ///
    /// - Returns: the items by path.
    /// - Throws: see `forEach`.
    package func items() throws -> [RelativePath: ArchivedItem] {
        let stores = Set((header?.stores ?? []).map(\.path.exact))
        var items: [RelativePath: ArchivedItem] = [:]
        try forEach { item in
            let attributes = item.attributes
            let isFile = attributes.kind == .file && !item.entry.isSpecial
            let isStore =
                header == nil
                ? try isFile && beginsAsStore(item.entry)
                : stores.contains(attributes.path.description.exact)
            items[attributes.path] = ArchivedItem(
                path: attributes.path,
                type: attributes.kind.rawValue,
                mode: attributes.mode,
                owner: attributes.owner,
                modified: attributes.modified,
                size: item.size,
                digests: item.patched?.digests ?? item.segments?.map(\.digest),
                checksum: item.patched == nil ? item.entry.checksum : nil,
                isStore: isStore
            )
        }
        return items
    }

    func beginsAsStore(_ entry: ArchiveReader.Entry) throws -> Bool {
        guard entry.size > 0 else { return false }
        var isStore = false
        try reader.read(entry) { start in
            isStore = DatabaseHeader.begins(start)
            return false
        }
        return isStore
    }
}
