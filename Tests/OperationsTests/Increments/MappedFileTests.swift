import Archives
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// Files that are written through a map of memory: their times change once, and not with what is written later.
@Suite("A file in a map of memory")
struct MappedFileTests {
    /// A file of which all is mapped.
    private final class Map: @unchecked Sendable {
        private let start: UnsafeMutableRawPointer
        private let size: Int

        init(_ path: FilePath, size: Int) throws {
            let descriptor = open(path.string, O_RDWR)
            defer { close(descriptor) }
            let map = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            start = try #require(map == MAP_FAILED ? nil : map)
            self.size = size
        }

        deinit { munmap(start, size) }

        func write(_ text: String, at offset: Int = 0) {
            (start + offset).copyMemory(from: Array(text.utf8), byteCount: text.utf8.count)
        }

        func count(at offset: Int) {
            let byte = (start + offset).assumingMemoryBound(to: UInt8.self)
            byte.pointee &+= 1
        }
    }

    private static func randomBytes(_ count: Int) throws -> [UInt8] {
        let source = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
        let bytes = try source.read(upToCount: count)
        return try [UInt8](#require(bytes))
    }

    private let life: IncrementScene

    init() throws {
        life = try IncrementScene(seed: 4)
        try life.makeStore("store0.sqlite", rows: 50)
    }

    private func makeFile(_ size: Int) throws -> Map {
        try life.scene.sandbox.write(Self.randomBytes(size), to: "Stores/data.mdb")
        return try Map(life.scene.stores.appending("data.mdb"), size: size)
    }

    /// Restores a backup, all of which is verified.
    private func restored(_ name: String) async throws -> [UInt8] {
        let path = life.scene.sandbox.path("Restored")
        try LocalFileSystem().createDirectory(path)
        defer { try? LocalFileSystem().remove(path) }
        try await life.extract(life.scene.folder().find(name), from: life.scene.folder(), to: path)
        return try life.scene.sandbox.read("Restored/data.mdb")
    }

    @Test("is in each increment as it was read", arguments: [100_000, 9 << 20])
    func betweenBackups(size: Int) async throws {
        let map = try makeFile(size)
        let first = try await life.backUp()
        // The first write gives it new times, the others need not.
        for text in ["FIRST", "SECND", "THIRD", "FORTH"] {
            map.write(text)
            map.write(text, at: size / 2)
            try life.makeStore("store0.sqlite", rows: 1)
            let backup = try await life.backUpAlone().backup
            // Of a file that is all that there is, a change is as soon written in whole.
            #expect(backup.isIncrement || size < 1 << 20)
            // It may be as it was when it was read last, and is never a mixture.
            let bytes = try await restored(backup.name)
            #expect(bytes.prefix(5).elementsEqual(bytes[(size / 2)...].prefix(5)))
            // One that is built on the first alone has the file in it, which was read for it.
            if backup.needs.map(\.name) == [first.name] {
                #expect(bytes.starts(with: Array(text.utf8)))
            }
        }
    }

    @Test("is in an increment as it was written there if it changes all the time")
    func whileItIsRead() async throws {
        // An increment of half the size would be given up for a whole backup.
        try life.scene.sandbox.write(Self.randomBytes(12 << 20), to: "Stores/other")
        let map = try makeFile(9 << 20)
        try await life.backUp()
        map.write("other")
        life.date += 3600
        var options = life.scene.options(at: life.date)
        options.increments = life.increments
        let outcome = try await CreateBackup(
            of: life.scene.stores,
            to: life.scene.folder(),
            options: options,
            context: life.scene.context { map.count(at: 0) }
        ).run()
        #expect(outcome.backup.isIncrement)
        _ = try await restored(outcome.backup.name)
        let check = CheckBackups(
            in: life.scene.folder(),
            options: .init(),
            context: life.scene.context()
        )
        #expect(try await check.run(outcome.backup, at: life.date).damage.isEmpty)
    }

    @Test("is read again if its times changed within the last minute")
    func justWritten() throws {
        let file = try File.create(life.scene.stores.appending("now"))
        let info = try file.info()
        func standing(after seconds: Double) -> String? {
            let now = Date(timeIntervalSince1970: Double(info.changed) / 1e9 + seconds)
            return info.standing(at: now, settledFor: FileInfo.writeback)
        }
        #expect(standing(after: 59) == nil)
        #expect(standing(after: 61) != nil)
    }
}
