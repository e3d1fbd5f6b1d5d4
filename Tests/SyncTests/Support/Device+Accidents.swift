import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Sync

/// A device's disk as it was at a moment.
struct SavedDisk {
    fileprivate let directory: FilePath
}

extension Device {
    /// Copies the store and the sidecar.
    func save() throws -> SavedDisk {
        let directory = root.appending("saved-\(UUID().uuidString)")
        try LocalFileSystem().createDirectories(directory)
        try withClosedStore {
            try FileManager.default.copyItem(
                atPath: storePath.string,
                toPath: directory.appending("a.sqlite").string
            )
        }
        try FileManager.default.copyItem(
            atPath: sidecarPath.string,
            toPath: directory.appending("sidecar").string
        )
        try copyFiles(from: filesPath, to: directory.appending("files"))
        return SavedDisk(directory: directory)
    }

    /// Puts back the store of a saved disk, as another file.
    func putBackStore(_ disk: SavedDisk) throws {
        try withClosedStore {
            let copy = root.appending("copy-\(UUID().uuidString)")
            try FileManager.default.copyItem(
                atPath: disk.directory.appending("a.sqlite").string,
                toPath: copy.string
            )
            try copyFiles(from: disk.directory.appending("files"), to: filesPath)
            // The old file is still there when the new one is made, so that it is another inode.
            try #require(rename(copy.string, storePath.string) == 0)
        }
    }

    /// Rolls the whole disk back: files stay those that they are.
    func rollBack(to disk: SavedDisk, store: Bool = true, sidecar: Bool = true) throws {
        if store {
            try withClosedStore {
                try overwrite(storePath, with: disk.directory.appending("a.sqlite"))
                try copyFiles(from: disk.directory.appending("files"), to: filesPath)
            }
        }
        guard sidecar else { return }
        let saved = disk.directory.appending("sidecar")
        try overwrite(
            sidecarPath.appending("sync.sqlite"),
            with: saved.appending("sync.sqlite")
        )
        let files = LocalFileSystem()
        try files.remove(sidecarPath.appending("outbox"))
        try FileManager.default.copyItem(
            atPath: saved.appending("outbox").string,
            toPath: sidecarPath.appending("outbox").string
        )
    }

    /// Replaces the sidecar by a copy, which is another file.
    func moveSidecar() throws {
        let path = sidecarPath.appending("sync.sqlite")
        let copy = root.appending("copy-\(UUID().uuidString)")
        try FileManager.default.copyItem(atPath: path.string, toPath: copy.string)
        // The old file is still there when the new one is made, so that it is another inode.
        try #require(rename(copy.string, path.string) == 0)
    }

    /// Copies a device's disk to this one, as if it were another machine's.
    func clone(_ disk: SavedDisk) throws {
        try putBackStore(disk)
        try? LocalFileSystem().remove(sidecarPath)
        try FileManager.default.copyItem(
            atPath: disk.directory.appending("sidecar").string,
            toPath: sidecarPath.string
        )
    }

    private func overwrite(_ path: FilePath, with other: FilePath) throws {
        for suffix in ["-wal", "-shm"] {
            try LocalFileSystem().remove(FilePath(path.string + suffix))
        }
        let bytes = try Data(contentsOf: URL(filePath: other.string))
        let file = try #require(FileHandle(forWritingAtPath: path.string))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    /// The names of this device's ids, the one that it has now last.
    func ids() throws -> [DeviceID] {
        try inspect { try $0.membership.former + [$0.membership.own] }
    }
}
