internal import Changes
internal import Files
internal import Remotes
internal import SystemPackage

/// The content of blobs, as far as it is on this machine: what was fetched, and what waits in the outbox.
struct BlobCache {
    let sidecar: Sidecar
    /// The files beside the store; `nil` where nobody asks for them.
    var files: ExternalFiles?

    private var directory: FilePath { sidecar.directory.appending("blobs") }

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

    /// Fetches blobs, one after the other or at once.
    ///
    /// - Returns: whether any is here now, and why the others did not come if the container failed. One that
    ///   is not there, or not whole yet, is no failure.
    func fetch(
        _ blobs: Set<BlobReference>,
        from container: Container,
        _ check: () throws -> Void
    ) async throws -> (isAnyThere: Bool, failure: RemoteError?) {
        try LocalFileSystem().createDirectories(directory)
        let scratch = try ScratchDirectory(in: directory)
        var failure: RemoteError?
        do {
            try await fetch(blobs, from: container, to: scratch.path, check)
        } catch let error as RemoteError {
            // What has come is kept all the same.
            failure = error
        }
        var isAnyThere = false
        for blob in blobs {
            let place = container.place(of: blob)
            let copy = scratch.path.pushing(FilePath(place.path))
            guard try FileInfo.ifPresent(copy) != nil else { continue }
            if try keep(copy, as: place.name, blob) { isAnyThere = true }
        }
        return (isAnyThere, failure)
    }

    private func fetch(
        _ blobs: Set<BlobReference>,
        from container: Container,
        to directory: FilePath,
        _ check: () throws -> Void
    ) async throws {
        if let root = container.root as? any BatchFolder {
            let places = blobs.map { container.place(of: $0) }
            return try await root.download(places, to: directory, scratch: self.directory)
        }
        for blob in blobs {
            try check()
            let place = container.place(of: blob)
            let copy = directory.pushing(FilePath(place.path))
            try LocalFileSystem().createDirectories(copy.removingLastComponent())
            do {
                try await container.folder(place.folders.last).download(place.name, to: copy)
            } catch RemoteError.noFile {
                continue
            }
        }
    }

    /// Keeps a blob's file, if it is whole.
    private func keep(_ copy: FilePath, as name: String, _ blob: BlobReference) throws -> Bool {
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

    /// Removes what was fetched: it is in the store now.
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

extension Container {
    fileprivate func place(of blob: BlobReference) -> BatchPlace {
        let name = ContainerName.blob(blob.digest)
        return place(name.file, in: name.folder)
    }
}
