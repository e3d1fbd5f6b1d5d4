internal import Changes
internal import Files
internal import SystemPackage

/// The content of blobs on this machine: those that were fetched, and those in the outbox.
struct BlobCache {
    let sidecar: Sidecar
    /// The files beside the store; `nil` if they are not needed.
    var files: ExternalFiles?

    var directory: FilePath { sidecar.directory.appending("blobs") }

    func has(_ blob: BlobReference) throws -> Bool { try path(blob) != nil }

    /// Returns a blob's content; `nil` if it is not here.
    ///
    /// - Throws: `FileError`, `ChangeError`.
    func content(_ blob: BlobReference) throws -> [UInt8]? {
        guard let path = try path(blob) else { return nil }
        let file = try File.open(path)
        let size = try file.size
        let start = try file.readExactly(count: min(BlobFile.startLength, Int(size)), at: 0)
        let content = try BlobFile.readStart(
            start,
            fileLength: UInt64(size),
            name: blob.digest.description
        ).content
        let bytes = try file.readExactly(count: content.count, at: Int64(content.lowerBound))
        guard bytes.withUnsafeBytes({ Digest(of: $0) }) == blob.digest else {
            throw ChangeError.incomplete(blob.digest.description)
        }
        return bytes
    }

    /// Keeps a blob's file if it is complete, and returns whether it is.
    func keep(_ copy: FilePath, as name: String, _ blob: BlobReference) throws -> Bool {
        let path = directory.appending(name)
        try LocalFileSystem().remove(path)
        try LocalFileSystem().move(copy, to: path)
        do {
            return try content(blob) != nil
        } catch is ChangeError {
            try LocalFileSystem().remove(path)
            return false
        }
    }

    /// Removes the fetched blobs, which the store now contains.
    func clear() throws { try LocalFileSystem().remove(directory) }

    private func path(_ blob: BlobReference) throws -> FilePath? {
        let name = ContainerName.blob(blob.digest).file
        for directory in [directory, sidecar.outbox] {
            let path = directory.appending(name)
            if try FileInfo.ifPresent(path)?.kind == .file { return path }
        }
        return nil
    }
}
