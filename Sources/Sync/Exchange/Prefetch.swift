internal import Changes
internal import Files
internal import Remotes
internal import Synchronization
internal import SystemPackage

/// The files of a container that were fetched in one batch, and are read soon.
final class Prefetch: Sendable {
    private struct State {
        var directory: ScratchDirectory?
        var places: Set<BatchPlace> = []
    }

    private let state = Mutex(State())

    /// Returns the path of a file on this machine; `nil` if it did not arrive, or is incomplete.
    func path(of place: BatchPlace, size: Int64) -> FilePath? {
        state.withLock { state in
            guard state.places.contains(place), let directory = state.directory else { return nil }
            let path = directory.path.pushing(FilePath(place.path))
            guard let info = try? FileInfo.ifPresent(path), info.kind == .file else { return nil }
            return info.size == size ? path : nil
        }
    }

    /// Replaces the files with those of a directory.
    func keep(_ directory: ScratchDirectory, _ places: [BatchPlace]) {
        state.withLock {
            $0.directory = directory
            $0.places = Set(places)
        }
    }
}

extension Container {
    /// The limits of a batch: bytes, and files.
    private static let batchSize: Int64 = 64 << 20
    private static let batchCount = 1_000

    /// A file and its folder in the group; `nil` for the root.
    typealias Place = (folder: String?, file: RemoteFile)

    /// Returns whether a file is not on this machine, and can be fetched in a batch.
    func lacks(_ file: RemoteFile, in folder: String?) -> Bool {
        root.batches != nil && file.location == nil && file.size <= Self.readableSize
            && prefetched.path(of: place(file.name, in: folder), size: file.size) == nil
    }

    /// Fetches files in one batch, up to its limits.
    ///
    /// They are read next, and the files of the last batch are gone.
    ///
    /// It does nothing if a batch has no advantage.
    ///
    /// - Throws: `RemoteError`, `FileError`; some files may have arrived.
    func prefetch(_ files: [Place]) async throws {
        guard let root = root.batches else { return }
        var size: Int64 = 0
        var places: [BatchPlace] = []
        for (folder, file) in files where lacks(file, in: folder) {
            size += file.size
            guard size <= Self.batchSize || places.isEmpty, places.count < Self.batchCount else {
                break
            }
            places.append(place(file.name, in: folder))
        }
        guard places.count > 1 else { return }
        let directory = try ScratchDirectory(in: scratch)
        prefetched.keep(directory, places)
        try await root.download(places, to: directory.path, scratch: scratch)
    }

    /// Returns the place of a file in a group's folder, or in the root.
    func place(_ name: String, in folder: String?) -> BatchPlace {
        BatchPlace(folder.map { [group.description, $0] } ?? [], name)
    }
}
