import Files
import Foundation
import Stores
import Synchronization
import SystemPackage
import TestSupport

@testable import Operations

/// A file system on which one directory is a mount point.
struct MountedFileSystem: FileSystem {
    private let base: any FileSystem
    private let live: FilePath

    init(_ base: any FileSystem, live: FilePath) {
        self.base = base
        self.live = live
    }

    func createDirectory(_ path: FilePath) throws { try base.createDirectory(path) }
    func move(_ path: FilePath, to newPath: FilePath) throws {
        if path == live { throw FileError.failed(.move, path, .resourceBusy) }
        try base.move(path, to: newPath)
    }
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        if first == live { throw FileError.failed(.exchange, first, .resourceBusy) }
        return try base.swap(first, second)
    }
    func remove(_ path: FilePath) throws { try base.remove(path) }
    func write(_ bytes: [UInt8], to path: FilePath) throws { try base.write(bytes, to: path) }
    func sync(_ path: FilePath) throws { try base.sync(path) }
}

/// A file system that damages the store the moment that it comes into the stores directory out of
/// what is being restored.
final class DamagingMoves: FileSystem {
    private let base: any FileSystem
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
        let bytes = try File.open(store).readExactly(count: 4096, at: 0)
        try LocalFileSystem().remove(store)
        let file = try File.create(store)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        damage.withLock { $0 = true }
    }
    func createDirectory(_ path: FilePath) throws { try base.createDirectory(path) }
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool { try base.swap(first, second) }
    func remove(_ path: FilePath) throws { try base.remove(path) }
    func write(_ bytes: [UInt8], to path: FilePath) throws { try base.write(bytes, to: path) }
    func sync(_ path: FilePath) throws { try base.sync(path) }
}

/// A file system that damages every store of a directory the moment that it becomes the live one.
final class DamagingFileSystem: FileSystem {
    private let base: any FileSystem
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
        let store = live.appending(GroceryStore.fileName)
        let bytes = try File.open(store).readExactly(count: kept, at: 0)
        try LocalFileSystem().remove(store)
        let file = try File.create(store)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    func createDirectory(_ path: FilePath) throws { try base.createDirectory(path) }
    func move(_ path: FilePath, to newPath: FilePath) throws {
        try base.move(path, to: newPath)
        try damage()
    }
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        let swapped = try base.swap(first, second)
        try damage()
        return swapped
    }
    func remove(_ path: FilePath) throws { try base.remove(path) }
    func write(_ bytes: [UInt8], to path: FilePath) throws { try base.write(bytes, to: path) }
    func sync(_ path: FilePath) throws { try base.sync(path) }
}
