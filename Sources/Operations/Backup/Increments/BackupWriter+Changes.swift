internal import Archives
internal import Backups
internal import Files
internal import History

// Entries go to the archive, or to the change writer, which knows the base backups.
extension BackupWriter {
    /// Returns whether the archive reserves a path for itself.
    ///
    /// In a lineage, this includes everything below the reserved directory. Files there would get in the way when this
    /// archive is unpacked by hand.
    func isReserved(_ path: RelativePath) -> Bool {
        // Check the path first: splitting it into components takes longer.
        guard path.bytes.starts(with: Manifest.reserved.bytes) else { return false }
        return path == Manifest.path || path == Manifest.signature
            || changes != nil && path.components.first == Manifest.reserved.name
    }

    /// Returns whether a file is skipped because the archive reserves its path; `nil` if it does not.
    ///
    /// Files that remain from an archive that was unpacked by hand are no problem, and all others are.
    func choice(ifReserved file: WalkedFile) -> WalkChoice? {
        let (path, kind) = (file.path, file.info.kind)
        if path == Manifest.reserved {
            // The cut reports anything but a directory.
            guard kind == .directory else { return .skip }
            guard changes != nil else { return nil }
        } else {
            guard isReserved(path) else { return nil }
            guard Manifest.isLeftover(path, kind) else {
                note(.unreadable, path, Problem.inReservedDirectory)
                return .skip
            }
            // The note on the directory covers its files.
            if changes != nil { return .skip }
        }
        context.note("'\(path)' is left out: every archive has its own")
        return kind == .directory ? .descend : .skip
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
    ///   - attributes: the attributes to write.
    ///   - size: the size in bytes.
    ///   - identity: the file's disk state; evaluated only in a lineage.
    ///   - isSnapshot: whether every read returns the same bytes.
    ///   - isStill: returns whether the file has not changed.
    ///   - read: fills the buffer from an offset on, and returns the number of bytes.
    /// - Returns: `false` if the file ended early or changed.
    /// - Throws: errors of `isStill` and `read`; see `ChangeWriter.addFile`.
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

    /// Adds a file without opening it, if its disk state is the recorded one; see `ChangeWriter.addUnread`.
    func addUnread(_ file: WalkedFile) throws -> Bool {
        guard let changes else { return false }
        return try changes.addUnread(
            attributes(file.path, .file, file.info),
            size: file.info.size,
            identity: identity(of: file, file.info)
        )
    }

    /// Returns the disk state of a file that is no store.
    ///
    /// The last try may save a new store as a file, and SQLite's files beside a damaged store are saved as files. None
    /// of these may be recorded as a file that is no store.
    /// - Returns: the state; `nil` if it proves nothing about the content.
    func identity(of file: WalkedFile, _ info: FileInfo) -> String? {
        guard !plan.isLastTry, !storeFiles.contains(file.path) else { return nil }
        return info.standing(at: plan.options.date, settledFor: FileInfo.writeback)
    }

    /// Returns the attributes of a file for the archive.
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
