internal import Changes
internal import Files
internal import Stores
internal import SystemPackage

/// The files beside a store that rows name.
///
/// Core Data, the sample and most applications give each file a unique name, and never write into it again, so a name
/// implies its content. A file that sync has written is on the disk before a row names it.
final class ExternalFiles {
    private let store: Store
    private var known: [RowFile: BlobReference?] = [:]

    init(of store: Store) {
        self.store = store
    }

    /// Returns the hash and the length of a file's content; `nil` if it does not exist, or is too long to sync.
    ///
    /// - Throws: `FileError`.
    func content(of file: RowFile) throws -> BlobReference? {
        if let found = known[file] { return found }
        var found: BlobReference?
        if let bytes = try read(file) {
            found = BlobReference(
                digest: bytes.withUnsafeBytes { Digest(of: $0) },
                size: UInt64(bytes.count)
            )
        }
        known[file] = .some(found)
        return found
    }

    /// Returns a file's bytes; `nil` if it does not exist, is reached through a link, or is too long to sync.
    ///
    /// - Throws: `FileError`.
    func read(_ file: RowFile) throws -> [UInt8]? {
        guard let size = try size(of: file) else { return nil }
        return try File.open(location(of: file)).readExactly(count: size, at: 0)
    }

    /// Returns whether a file is there that can be sent.
    ///
    /// - Throws: `FileError`.
    func canBeSent(_ file: RowFile) throws -> Bool { try size(of: file) != nil }

    /// Returns whether a file is there that is too long to sync.
    ///
    /// - Throws: `FileError`.
    func isTooLong(_ file: RowFile) throws -> Bool {
        try length(of: file).map { UInt64($0) > BlobReference.maximumSize } ?? false
    }

    /// Returns the size of a file in bytes; `nil` if it cannot be sent.
    private func size(of file: RowFile) throws -> Int? {
        try length(of: file).flatMap { UInt64($0) <= BlobReference.maximumSize ? $0 : nil }
    }

    /// Returns the size of a file in bytes, however long it is; `nil` if it does not exist.
    private func length(of file: RowFile) throws -> Int? {
        guard try barrier(to: file) == nil, let info = try FileInfo.ifPresent(location(of: file)),
            info.kind == .file
        else { return nil }
        return Int(info.size)
    }

    /// Returns whether the directory of external data may be that of another store as well.
    ///
    /// It is named after the store without the last extension, as for 'a.sqlite' and 'a.db'.
    ///
    /// - Throws: `FileError`.
    func mayBeShared() throws -> Bool {
        let parent = store.path.parent?.below(store.directory) ?? store.directory
        let own = store.externalDataDirectory
        return try Directory.open(parent).names().contains { name in
            let path = store.path.sibling(name)
            guard Store.externalDataDirectory(of: path) == own, !store.files.contains(path) else {
                return false
            }
            return try FileInfo.ifPresent(path.below(store.directory))?.kind == .file
        }
    }

    /// Returns the directory of a file, below the stores directory.
    func directory(of file: RowFile) -> RelativePath {
        file.directory ?? store.externalDataDirectory
    }

    /// Returns whether something exists under a file's name, or if it cannot be made there.
    ///
    /// - Throws: `FileError`.
    func isTaken(_ file: RowFile) throws -> Bool {
        try barrier(to: file) != nil || FileInfo.ifPresent(location(of: file)) != nil
    }

    /// Returns words on what is under a file's name, or keeps it from being made there, and on what to do; `nil` if
    /// nothing is there.
    ///
    /// - Throws: `FileError`.
    func obstacle(to file: RowFile) throws -> String? {
        if let words = try barrier(to: file) { return words }
        guard let info = try FileInfo.ifPresent(location(of: file)) else { return nil }
        let what = info.kind == .file ? "is here with other content" : "is no file here"
        return "'\(path(of: file))' \(what): move it away, and run 'grocerydude sync'"
    }

    /// Returns words on the part of a file's path that no file can be written through; `nil` if there is none.
    private func barrier(to file: RowFile) throws -> String? {
        let path = path(of: file)
        if store.files.contains(path) { return "'\(path)' is a part of the store" }
        return try path.parent.flatMap(barrier)
    }

    /// Returns words on the part of a directory's path that no file can be written through; `nil` if there is none.
    ///
    /// - Throws: `FileError`.
    func barrier(at directory: RelativePath) throws -> String? {
        var directory: RelativePath? = directory
        while let each = directory {
            let kind = try FileInfo.ifPresent(each.below(store.directory))?.kind
            if let kind, kind != .directory {
                return """
                    '\(each)' is \(kind == .link ? "a symbolic link" : "no directory"), through which no file \
                    is written: put a directory in its place
                    """
            }
            directory = each.parent
        }
        return nil
    }

    /// Returns the files that belong to a value alone.
    ///
    /// - Throws: `FileError`.
    func filesOfValues() throws -> [RowFile] {
        let directory = store.externalDataDirectory.below(store.directory)
        guard try FileInfo.ifPresent(directory)?.kind == .directory else { return [] }
        return try Directory.open(directory).names().compactMap { RowFile(ofValue: $0.bytes) }
    }

    /// Writes a file durably to the disk.
    ///
    /// - Throws: `FileError`.
    func write(_ bytes: [UInt8], as file: RowFile) throws {
        let fileSystem = LocalFileSystem()
        let location = location(of: file)
        try fileSystem.createDirectories(location.removingLastComponent())
        try fileSystem.write(bytes, to: location)
        known[file] = nil
    }

    /// Removes a file, and any draft that a killed run left.
    ///
    /// - Throws: `FileError`.
    func remove(_ file: RowFile) throws {
        let location = location(of: file)
        for path in [location, LocalFileSystem.draft(of: location)]
        where try FileInfo.ifPresent(path)?.kind == .file {
            try LocalFileSystem().remove(path)
        }
        known[file] = nil
    }

    /// Returns the path of a file below the stores directory.
    func path(of file: RowFile) -> RelativePath {
        file.path.components.reduce(directory(of: file)) { $0.appending($1) }
    }

    private func location(of file: RowFile) -> FilePath { path(of: file).below(store.directory) }
}
