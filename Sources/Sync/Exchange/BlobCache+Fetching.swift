internal import Changes
internal import Files
internal import Remotes
internal import SystemPackage

extension BlobCache {
    /// Fetches blobs, one after the other or in one batch.
    ///
    /// - Returns: whether any blob is here now, and the container's error if it failed. A blob that is missing, or
    ///   not complete yet, is no failure.
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
            // Blobs that have arrived are kept all the same.
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
        if let root = container.root.batches {
            let places = blobs.map { container.place(of: $0) }
            return try await root.download(places, to: directory, scratch: self.directory)
        }
        for blob in blobs {
            try check()
            let place = container.place(of: blob)
            let copy = directory.pushing(FilePath(place.path))
            try LocalFileSystem().createDirectories(copy.removingLastComponent())
            let folder = place.folders.last
            for folder in try [container.folder(folder)] + container.doubles(of: folder) {
                do {
                    try await folder.download(place.name, to: copy)
                    break
                } catch RemoteError.noFile {
                    continue
                }
            }
        }
    }
}

extension Container {
    fileprivate func place(of blob: BlobReference) -> BatchPlace {
        let name = ContainerName.blob(blob.digest)
        return place(name.file, in: name.folder)
    }
}
