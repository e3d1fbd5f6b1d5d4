import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Mounts

/// Whether this machine can mount.
enum Mounting {
    static let isPossible =
        (try? Mount.check()) != nil
        && (Tool.isInstalled("fusermount3") || geteuid() == 0) && mounts

    /// A container may have the device, and no right to mount.
    private static let mounts: Bool = {
        guard let sandbox = try? Sandbox() else { return false }
        return (try? Mount(Plain(), at: sandbox.path, allowingOthers: false)) != nil
    }()
}

/// A directory of files with some bytes each.
private final class Plain: MountedTree {
    /// By their names, which are numbers of inodes without 2.
    let files: [[UInt8]]
    /// Called before a file is read.
    let reading: @Sendable (Int) throws -> Void

    init(_ files: [[UInt8]] = [], reading: @escaping @Sendable (Int) throws -> Void = { _ in }) {
        self.files = files
        self.reading = reading
    }

    private func node(number: Int) -> MountedNode {
        MountedNode(
            inode: UInt64(number) + 2,
            kind: .file,
            mode: 0o644,
            owner: geteuid(),
            group: getegid(),
            size: Int64(files[number].count),
            // Before 1970.
            modified: -1_500_000_000
        )
    }

    func node(named name: [UInt8], in directory: UInt64) throws(Errno) -> MountedNode {
        guard let number = Int(String(decoding: name, as: UTF8.self)), files.indices ~= number
        else {
            throw name == Array("odd".utf8) ? .tooManyOpenFiles : .noSuchFileOrDirectory
        }
        return node(number: number)
    }

    func node(_ inode: UInt64) throws(Errno) -> MountedNode {
        guard inode == MountedNode.root else { return node(number: Int(inode) - 2) }
        return MountedNode(
            inode: inode,
            kind: .directory,
            mode: 0o755,
            owner: geteuid(),
            group: getegid(),
            size: 0,
            modified: 0
        )
    }

    func names(in directory: UInt64) throws(Errno) -> [MountedName] {
        files.indices.map {
            MountedName(name: Array(String($0).utf8), inode: UInt64($0) + 2, kind: .file)
        }
    }

    func target(of link: UInt64) throws(Errno) -> [UInt8] { throw .invalidArgument }

    func open(_ file: UInt64) throws(Errno) -> any ByteSource {
        Source(bytes: files[Int(file) - 2], number: Int(file) - 2, reading: reading)
    }

    var extent: (bytes: Int64, files: Int) { (10_000, files.count) }

    private struct Source: ByteSource {
        let bytes: [UInt8]
        let number: Int
        let reading: @Sendable (Int) throws -> Void
        var path: FilePath { "plain" }
        var size: Int64 { Int64(bytes.count) }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            try reading(number)
            let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }
}

/// A tree that is mounted as long as a test runs.
private final class Mounted {
    let sandbox: Sandbox
    private let isToEnd = Mutex(false)
    private let served: BackgroundWork<Void>

    init(_ tree: any MountedTree) throws {
        sandbox = try Sandbox()
        let mount = try Mount(tree, at: sandbox.path, allowingOthers: false)
        let isToEnd = Flag()
        flag = isToEnd
        served = BackgroundWork { _ in try mount.serve { isToEnd.isSet } }
    }

    private let flag: Flag

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock(\.self) }
        func set() { value.withLock { $0 = true } }
    }

    func path(_ name: String) -> FilePath { sandbox.path(name) }

    func read(_ name: String) throws -> [UInt8] { try sandbox.read(name) }

    /// Ends it, and waits until it is unmounted.
    func end() throws {
        flag.set()
        try served.wait()
        served.close()
    }
}

@Suite(
    "A mounted tree",
    .enabled(
        if: Mounting.isPossible,
        "libfuse 3 or /dev/fuse is missing, or mounting is not allowed"
    ),
    .timeLimit(.minutes(5))
)
struct MountTests {
    @Test("A mounted tree shows names, attributes and bytes, and is read-only")
    func reading() async throws {
        let files = (0..<3000).map { number in
            Array(String(repeating: "\(number) ", count: number == 7 ? 100_000 : 1).utf8)
        }
        try await WorkThread.run { () throws in
            let mounted = try Mounted(Plain(files))
            let names = try Directory.open(mounted.sandbox.path).names().map(\.description)
            #expect(names.sorted() == files.indices.map(String.init).sorted())
            for number in [0, 7, 2999] { #expect(try mounted.read("\(number)") == files[number]) }
            let info = try FileInfo(of: mounted.path("7"))
            #expect(info.size == 200_000 && info.modified == -1_500_000_000 && info.mode == 0o644)
            #expect(info.owner == geteuid() && info.identity.inode == 9)
            #expect(throws: FileError.self) { _ = try File.create(mounted.path("new")) }
            for (name, errno) in [("x", Errno.noSuchFileOrDirectory), ("odd", .tooManyOpenFiles)] {
                #expect(throws: FileError.failed(.open, mounted.path(name), errno)) {
                    _ = try File.open(mounted.path(name))
                }
            }
            let writing = try? FileDescriptor.open(mounted.path("1"), .writeOnly)
            #expect(writing == nil)
            #expect(throws: MountError.self) { try Mount.check(mounted.sandbox.path) }
            try mounted.end()
            #expect(try Directory.open(mounted.sandbox.path).names() == [])
        }
    }

    @Test("A slow file delays no other file, and a failed read fails only itself")
    func slow() async throws {
        let gate = DispatchSemaphore(value: 0)
        let isReading = DispatchSemaphore(value: 0)
        let tree = Plain([[1], [2], [3], [4]]) { number in
            if number == 0 {
                isReading.signal()
                gate.wait()
            }
            if number == 2 { throw Errno.noSpace }
            if number == 3 { throw DamagedBytes(in: "a", of: "b", 0..<1, reason: "c") }
        }
        try await WorkThread.run { () throws in
            let mounted = try Mounted(tree)
            let slow = BackgroundWork { _ in try mounted.read("0") }
            isReading.wait()
            #expect(try mounted.read("1") == [2])
            for (number, errno) in [("2", Errno.noSpace), ("3", .ioError)] {
                let file = try File.open(mounted.path(number))
                #expect(throws: FileError.failed(.read, mounted.path(number), errno)) {
                    _ = try file.readExactly(count: 1, at: 0)
                }
            }
            gate.signal()
            #expect(try slow.wait() == [1])
            slow.close()
            try mounted.end()
        }
    }
}

/// What can be known before something is mounted.
@Suite("Directories to mount in")
struct MountPlaceTests {
    @Test("A mount accepts only an empty directory")
    func places() throws {
        let sandbox = try Sandbox()
        let empty = try sandbox.directory("empty")
        try Mount.check(empty)
        #expect(throws: MountError.notEmpty(sandbox.path)) { try Mount.check(sandbox.path) }
        #expect(throws: MountError.mounted("/")) { try Mount.check("/") }
        let file = try sandbox.write("x", to: "file")
        #expect(throws: FileError.self) { try Mount.check(file) }
        #expect(throws: FileError.self) { try Mount.check(sandbox.path("nothing")) }
    }
}
