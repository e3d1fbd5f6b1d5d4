@testable import Backups
import Files
import Foundation
import Sample
import Synchronization
import SystemPackage
import TestSupport

@testable import Operations

/// A file system that does something else than another one here and there.
protocol DivertingFileSystem: FileSystem {
    var base: any FileSystem { get }
}

extension DivertingFileSystem {
    func createDirectory(_ path: FilePath) throws { try base.createDirectory(path) }
    func move(_ path: FilePath, to newPath: FilePath) throws { try base.move(path, to: newPath) }
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool { try base.swap(first, second) }
    func remove(_ path: FilePath) throws { try base.remove(path) }
    func write(_ bytes: [UInt8], to path: FilePath) throws { try base.write(bytes, to: path) }
    func sync(_ path: FilePath) throws { try base.sync(path) }
    func setMode(_ mode: UInt16, of path: FilePath) throws { try base.setMode(mode, of: path) }
}

extension FilePath {
    /// Leaves so many bytes of a file, in another file of that name.
    fileprivate func cut(to count: Int) throws {
        let bytes = try File.open(self).readExactly(count: count, at: 0)
        try LocalFileSystem().remove(self)
        let file = try File.create(self)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
}

/// A file system on which one directory is a mount point.
struct MountedFileSystem: DivertingFileSystem {
    let base: any FileSystem
    private let live: FilePath

    init(_ base: any FileSystem, live: FilePath) {
        self.base = base
        self.live = live
    }

    func move(_ path: FilePath, to newPath: FilePath) throws {
        if path == live { throw FileError.failed(.move, path, .resourceBusy) }
        try base.move(path, to: newPath)
    }
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        if first == live { throw FileError.failed(.exchange, first, .resourceBusy) }
        return try base.swap(first, second)
    }
}

/// A file system at which a test looks before each change to it.
struct WatchedFileSystem: DivertingFileSystem {
    let base: any FileSystem
    let look: @Sendable () throws -> Void

    func createDirectory(_ path: FilePath) throws {
        try look()
        try base.createDirectory(path)
    }
    func move(_ path: FilePath, to newPath: FilePath) throws {
        try look()
        try base.move(path, to: newPath)
    }
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        try look()
        return try base.swap(first, second)
    }
    func remove(_ path: FilePath) throws {
        try look()
        try base.remove(path)
    }
    func write(_ bytes: [UInt8], to path: FilePath) throws {
        try look()
        try base.write(bytes, to: path)
    }
}

/// A file system that damages the store the moment that it comes into the stores directory out of
/// what is being restored.
final class DamagingMoves: DivertingFileSystem {
    let base: any FileSystem
    private let store: FilePath
    private let damage = Mutex(false)

    var didDamage: Bool { damage.withLock { $0 } }

    init(_ base: any FileSystem, live: FilePath) {
        self.base = base
        store = live.appending(GroceryStore.fileName)
    }

    func move(_ path: FilePath, to newPath: FilePath) throws {
        try base.move(path, to: newPath)
        guard newPath == store, path.components.dropLast().last?.string == "New" else { return }
        try store.cut(to: 4096)
        damage.withLock { $0 = true }
    }
}

/// A file system that damages every store of a directory the moment that it becomes the live one.
final class DamagingFileSystem: DivertingFileSystem {
    let base: any FileSystem
    private let live: FilePath
    private let original: FileInfo.Identity?
    private let kept: Int

    // `kept` bytes of the store are left.
    init(_ base: any FileSystem, live: FilePath, keeping kept: Int = 4096) {
        self.base = base
        self.kept = kept
        self.live = live
        original = try? FileInfo(of: live).identity
    }

    private func damage() throws {
        guard let identity = try FileInfo.ifPresent(live)?.identity, identity != original else {
            return
        }
        try live.appending(GroceryStore.fileName).cut(to: kept)
    }

    func move(_ path: FilePath, to newPath: FilePath) throws {
        try base.move(path, to: newPath)
        try damage()
    }
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        let swapped = try base.swap(first, second)
        try damage()
        return swapped
    }
}
