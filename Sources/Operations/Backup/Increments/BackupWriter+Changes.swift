internal import Archives
internal import Backups
internal import Files

// Entries go into the archive, or to who knows what earlier backups have of them.
extension BackupWriter {
    /// Returns whether a path is one that the archive has for itself.
    func isReserved(_ path: RelativePath) -> Bool {
        if path == Manifest.path { return true }
        return changes != nil
            && [Manifest.patches, Manifest.readme, Manifest.script].contains(path)
    }

    /// Adds a directory, or a link with its target.
    func add(_ attributes: EntryAttributes, content: [UInt8] = []) throws {
        if let changes {
            try changes.add(attributes, content: content)
        } else {
            try archive.add(attributes, content: content)
        }
    }

    /// Adds a file; see `ChangeWriter.addFile`.
    ///
    /// - Parameters:
    ///   - attributes: those to write.
    ///   - size: bytes.
    ///   - identity: how it stood on the disk; only asked for if earlier backups count.
    ///   - isSnapshot: whether it reads the same however often it is read.
    ///   - isStill: whether the file has not changed.
    ///   - read: fills the buffer from an offset on, and returns how many bytes there were.
    /// - Returns: `false` if it ended early or was not still.
    /// - Throws: the error of `isStill` or `read`; see `ChangeWriter.addFile`.
    func addContent(
        of attributes: EntryAttributes,
        size: Int64,
        identity: @autoclosure () -> String?,
        isSnapshot: Bool = false,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        guard let changes else {
            return try archive.add(attributes, size: size, isStill: isStill, read: read)
        }
        return try changes.addFile(
            attributes,
            size: size,
            identity: identity(),
            isSnapshot: isSnapshot,
            isStill: isStill,
            read: read
        )
    }

    /// Returns what the archive tells of a file besides its content.
    func attributes(
        _ path: RelativePath,
        _ kind: EntryAttributes.Kind,
        _ info: FileInfo
    ) -> EntryAttributes {
        EntryAttributes(
            path: path,
            kind: kind,
            mode: info.mode,
            modified: info.modified,
            owner: Owner(user: info.owner, group: info.group)
        )
    }
}
