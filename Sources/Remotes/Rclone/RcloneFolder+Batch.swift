internal import Files
internal import Foundation
public import SystemPackage

// Each operation is one process, whatever the number of files.
extension RcloneFolder: BatchFolder {
    public func list(_ folders: [[String]]) async throws -> [[String]: [RemoteFile]] {
        let depth = (folders.map(\.count).max() ?? 0) + 1
        let patterns = folders.flatMap { folder in
            ["--include", "/" + (folder.map(Self.escaped) + ["*"]).joined(separator: "/")]
        }
        let options = ["--recursive", "--max-depth", "\(depth)"] + patterns
        var files: [[String]: [RemoteFile]] = [:]
        for (path, file) in try await paths(options) {
            files[path.split(separator: "/").dropLast().map(String.init), default: []].append(file)
        }
        return files
    }

    public func upload(
        _ files: [(path: FilePath, place: BatchPlace)],
        scratch: FilePath
    ) async throws {
        guard !files.isEmpty else { return }
        // rclone copies a directory tree, which consists of links to the files.
        let tree = try ScratchDirectory(in: scratch)
        let fileSystem = LocalFileSystem()
        var size: Int64 = 0
        for (path, place) in files {
            let directory = place.folders.reduce(tree.path) { $0.appending($1) }
            try fileSystem.createDirectories(directory)
            try fileSystem.makeLink(at: directory.appending(place.name), to: path)
            size += try FileInfo(of: path).size
        }
        try await copy(
            files.map(\.place),
            from: tree.path.string,
            to: place,
            ["--copy-links"],
            scratch: scratch,
            size: size
        )
        withExtendedLifetime(tree) {}
    }

    public func download(
        _ places: [BatchPlace],
        to directory: FilePath,
        scratch: FilePath
    ) async throws {
        guard !places.isEmpty else { return }
        try await copy(places, from: place, to: directory.string, [], scratch: scratch, size: nil)
    }

    public func delete(_ places: [BatchPlace], scratch: FilePath) async throws {
        guard !places.isEmpty else { return }
        try await withList(of: places, scratch) { list in
            try await run(["delete", "--files-from-raw", list], isWriting: true)
        }
        memory.change()
    }

    // Files of the same size on the other side count as copied. The size is the number of bytes that go to the remote;
    // nil for a download.
    private func copy(
        _ places: [BatchPlace],
        from source: String,
        to target: String,
        _ options: [String],
        scratch: FilePath,
        size: Int64?
    ) async throws {
        try await withList(of: places, scratch) { list in
            var job = job(
                ["copy", "--files-from-raw", list, "--no-traverse", "--size-only"] + options,
                on: [source, target]
            )
            if let size {
                (job.isWriting, job.isUpload, job.serverBytes) = (true, true, size)
                memory.change()
            }
            try await rclone.run(job)
        }
    }

    /// Passes the path of a list of files, one per line.
    private func withList(
        of places: [BatchPlace],
        _ scratch: FilePath,
        _ body: (String) async throws -> Void
    ) async throws {
        let directory = try ScratchDirectory(in: scratch)
        let list = directory.path.appending("files")
        let text = places.map { $0.path + "\n" }.joined()
        try LocalFileSystem().write([UInt8](text.utf8), to: list)
        try await body(list.string)
        withExtendedLifetime(directory) {}
    }
}
