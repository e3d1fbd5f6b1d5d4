internal import Changes
internal import Files
internal import Stores
internal import SystemPackage

/// The files beside a store that hold values of its rows, in Core Data's form.
///
/// Core Data, and the sample, give each value a unique name, and never write into a file again, so a name implies its
/// content. A file is on the disk before a row names it.
final class ExternalFiles {
    private let directory: FilePath
    private var known: [ExternalReference: BlobReference?] = [:]

    init(of store: Store) {
        directory = store.externalDataDirectory.below(store.directory)
    }

    /// Returns the hash and the length of a file's content; `nil` if it does not exist, or is too long to sync.
    ///
    /// - Throws: `FileError`.
    func content(of reference: ExternalReference) throws -> BlobReference? {
        if let found = known[reference] { return found }
        var found: BlobReference?
        if let bytes = try read(reference) {
            found = BlobReference(
                digest: bytes.withUnsafeBytes { Digest(of: $0) },
                size: UInt64(bytes.count)
            )
        }
        known[reference] = .some(found)
        return found
    }

    /// Returns a file's bytes; `nil` if it does not exist, or is too long to sync.
    ///
    /// - Throws: `FileError`.
    func read(_ reference: ExternalReference) throws -> [UInt8]? {
        let path = path(reference)
        guard let info = try FileInfo.ifPresent(path), info.kind == .file,
            UInt64(info.size) <= BlobReference.maximumSize
        else { return nil }
        return try File.open(path).readExactly(count: Int(info.size), at: 0)
    }

    /// Returns whether something exists under a file's name.
    func isTaken(_ reference: ExternalReference) throws -> Bool {
        try FileInfo.ifPresent(path(reference)) != nil
    }

    /// Returns the references for which files exist.
    ///
    /// - Throws: `FileError`.
    func names() throws -> [ExternalReference] {
        guard try FileInfo.ifPresent(directory)?.kind == .directory else { return [] }
        return try Directory.open(directory).names().compactMap {
            ExternalReference(name: $0.bytes)
        }
    }

    /// Writes a file durably to the disk.
    ///
    /// - Throws: `FileError`.
    func write(_ bytes: [UInt8], as reference: ExternalReference) throws {
        let fileSystem = LocalFileSystem()
        try fileSystem.createDirectories(directory)
        try fileSystem.write(bytes, to: path(reference))
        known[reference] = nil
    }

    /// Removes a file, and any draft that a killed run left.
    ///
    /// - Throws: `FileError`.
    func remove(_ reference: ExternalReference) throws {
        let path = path(reference)
        for path in [path, LocalFileSystem.draft(of: path)]
        where try FileInfo.ifPresent(path)?.kind == .file {
            try LocalFileSystem().remove(path)
        }
        known[reference] = nil
    }

    private func path(_ reference: ExternalReference) -> FilePath {
        directory.appending(reference.name)
    }
}
