internal import Archives
internal import Backups
internal import Files
internal import History

// Entries go into the archive, or to who knows what earlier backups have of them.
extension BackupWriter {
    /// Returns whether a path is one that the archive has for itself.
    ///
    /// In a lineage, all below their directory is: what stands there was left by somebody who unpacked an
    /// archive by hand, and who does so with this one would stumble over it.
    func isReserved(_ path: RelativePath) -> Bool {
        // The path comes first: to take it apart takes longer.
        guard path.bytes.starts(with: Manifest.reserved.bytes) else { return false }
        return path == Manifest.path
            || changes != nil && path.components.first == Manifest.reserved.name
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

    /// Adds a file without opening it, if it stands as earlier backups know it; see `ChangeWriter.addUnread`.
    func addUnread(_ file: WalkedFile) throws -> Bool {
        guard let changes else { return false }
        return try changes.addUnread(
            attributes(file.path, .file, file.info),
            size: file.info.size,
            identity: identity(of: file, file.info)
        )
    }

    /// Returns how a file that is no store stands on the disk.
    ///
    /// The last try may save a store that was just made as a file, and SQLite's files beside one that is damaged are
    /// saved as files: none of them is to be taken for a file that is no store.
    /// - Returns: `nil` if that tells nothing of its content.
    func identity(of file: WalkedFile, _ info: FileInfo) -> String? {
        guard !isLastTry, !storeFiles.contains(file.path) else { return nil }
        return info.standing(at: plan.options.date)
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
