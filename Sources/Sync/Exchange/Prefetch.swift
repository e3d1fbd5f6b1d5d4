internal import Changes
internal import Files
internal import Remotes
internal import Synchronization
internal import SystemPackage

/// Files of a container that were brought at the cost of one, and are read soon.
final class Prefetch: Sendable {
    private struct State {
        var directory: ScratchDirectory?
        var places: Set<BatchPlace> = []
    }

    private let state = Mutex(State())

    /// Returns where a file is on this machine; `nil` if it did not come, or not wholly.
    func path(of place: BatchPlace, size: Int64) -> FilePath? {
        state.withLock { state in
            guard state.places.contains(place), let directory = state.directory else { return nil }
            let path = directory.path.pushing(FilePath(place.path))
            guard let info = try? FileInfo.ifPresent(path), info.kind == .file else { return nil }
            return info.size == size ? path : nil
        }
    }

    /// Keeps what a directory has instead of what there was.
    func keep(_ directory: ScratchDirectory, _ places: [BatchPlace]) {
        state.withLock {
            $0.directory = directory
            $0.places = Set(places)
        }
    }
}

extension Container {
    /// The most bytes that are brought at once, and the most files.
    private static let batchSize: Int64 = 64 << 20
    private static let batchCount = 1_000

    /// A file and the folder of the group that it is in; `nil` for the root.
    typealias Place = (folder: String?, file: RemoteFile)

    /// Whether a file would have to be fetched by itself, and could be with others.
    func lacks(_ file: RemoteFile, in folder: String?) -> Bool {
        root is any BatchFolder && file.location == nil && file.size <= Self.readableSize
            && prefetched.path(of: place(file.name, in: folder), size: file.size) == nil
    }

    /// Brings files at once, those of them that are worth it, as far as they are few enough; they are read
    /// next, and what was brought before is gone.
    ///
    /// Where that is no gain, nothing is done.
    /// - Throws: `RemoteError`, `FileError`; some may have come.
    func prefetch(_ files: [Place]) async throws {
        guard let root = root as? any BatchFolder else { return }
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

    /// Returns the place of a file of a group's folder, or of the root.
    func place(_ name: String, in folder: String?) -> BatchPlace {
        BatchPlace(folder.map { [group.description, $0] } ?? [], name)
    }
}
