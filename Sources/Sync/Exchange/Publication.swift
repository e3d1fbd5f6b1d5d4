internal import SystemPackage
internal import Changes
internal import Files
internal import Remotes

/// The upload of this device's files from the outbox into the container, oldest first.
struct Publication {
    let sidecar: Sidecar
    let container: Container
    let now: Int64

    /// The result of an upload.
    struct Sent: Equatable {
        var files = 0
        var bytes: Int64 = 0
        var changes: Int64 = 0
    }

    /// Sends all files that wait.
    ///
    /// Files sent before an error stay sent.
    ///
    /// - Throws: `RemoteError`, `FileError`, `SidecarError`.
    func run(_ sent: inout Sent) async throws {
        if let root = container.root.batches { try await send(through: root, &sent) }
        for file in try sidecar.read({ try $0.files.unpublished() }) {
            try await send(file)
            try sidecar.write { try $0.files.setPublished(file, at: now) }
            sent.files += 1
            sent.bytes += file.size
            sent.changes += file.changes
        }
        try removeOrphans()
    }

    /// Sends the whole outbox in one batch.
    private func send(through root: any BatchFolder, _ sent: inout Sent) async throws {
        let waiting = try sidecar.read { try $0.files.unpublished() }.filter {
            try FileInfo.ifPresent(sidecar.outbox.appending($0.name)) != nil
        }
        let files = waiting.map { file in
            (
                path: sidecar.outbox.appending(file.name),
                place: container.place(file.name, in: file.folder.isEmpty ? nil : file.folder)
            )
        }
        try await root.upload(files, scratch: container.scratch)
        for file in waiting {
            try sidecar.write { try $0.files.setPublished(file, at: now) }
            try LocalFileSystem().remove(sidecar.outbox.appending(file.name))
            sent.files += 1
            sent.bytes += file.size
            sent.changes += file.changes
        }
    }

    private func send(_ file: OwnFile) async throws {
        let path = sidecar.outbox.appending(file.name)
        let folder = container.folder(file.folder.isEmpty ? nil : file.folder)
        // It was sent, and a crash prevented the record of it. If it has been lost since, as any sent file can be, a
        // baseline replaces it.
        guard try FileInfo.ifPresent(path) != nil else { return }
        do {
            try await folder.upload(path, as: file.name)
        } catch RemoteError.exists {
            // Its name contains its hash, so it is this file, whether it is listed or not. Only a file of our own
            // may be truncated; a blob may be another device's.
            let there = try await folder.list().first { $0.name == file.name }
            if let there, there.size != file.size, !file.folder.hasPrefix("blob-") {
                try await folder.delete(file.name)
                try await folder.upload(path, as: file.name)
            } else {
                try LocalFileSystem().remove(path)
            }
        } catch RemoteError.notSynced {
            // The file is there.
        }
    }

    /// Removes files of captures that did not finish.
    private func removeOrphans() throws {
        let waiting = Set(try sidecar.read { try $0.files.unpublished().map(\.name) })
        for name in try Directory.open(sidecar.outbox).names() {
            guard let text = String(validating: name.bytes, as: UTF8.self), !waiting.contains(text)
            else { continue }
            try LocalFileSystem().remove(sidecar.outbox.appending(text))
        }
    }
}
