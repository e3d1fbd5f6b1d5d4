public import Files
internal import Foundation
public import SystemPackage

/// A fresh directory for one test, mode 0700, that removes itself with the last reference to it.
public final class Sandbox: Sendable {
    /// Where it is: absolute, without symbolic links.
    public let path: FilePath

    public init() throws {
        let temporary = try FilePath(FileManager.default.temporaryDirectory.path).resolved()
        path = temporary.appending("grocerydude-test.\(UUID().uuidString)")
        try LocalFileSystem().createDirectory(path)
    }

    /// Makes one in memory where the system has a place for that, so that nothing waits for a disk.
    ///
    /// It is the same to a program, but for what a loss of power leaves.
    public static func inMemory() throws -> Sandbox {
        let memory = FilePath("/dev/shm")
        let system = try? FileManager.default.attributesOfFileSystem(forPath: memory.string)
        guard let free = system?[.systemFreeSize] as? NSNumber, free.int64Value >= leastMemory,
            FileManager.default.isWritableFile(atPath: memory.string)
        else { return try Sandbox() }
        return try Sandbox(
            at: memory.appending("grocerydude-\(UInt32.random(in: .min ... .max))")
        )
    }

    /// What must be free there, in bytes.
    private static let leastMemory: Int64 = 1 << 30

    private init(at path: FilePath) throws {
        self.path = path
        try LocalFileSystem().createDirectory(path)
    }

    deinit {
        try? remove()
    }

    /// Removes it now, whatever the permissions in it.
    public func remove() throws {
        do {
            try LocalFileSystem().remove(path)
        } catch {
            Sandbox.makeWritable(path)
            try LocalFileSystem().remove(path)
        }
    }

    /// The removal of the tree shows what this leaves out: the sandbox stays behind.
    private static func makeWritable(_ path: FilePath) {
        guard let info = try? FileInfo(of: path), info.kind == .directory else { return }
        if info.mode & 0o700 != 0o700 {
            try? FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: path.string
            )
        }
        guard let names = try? Directory.open(path).names() else { return }
        for name in names { makeWritable(RelativePath(name: name).below(path)) }
    }

    /// The path of something in it, there or not.
    public func path(_ relative: String) -> FilePath {
        path.appending(relative)
    }

    /// Makes a directory, and those above it.
    @discardableResult
    public func directory(_ relative: String) throws -> FilePath {
        var directory = path
        for component in FilePath(relative).components {
            directory.append(component)
            if try FileInfo.ifPresent(directory) == nil {
                try LocalFileSystem().createDirectory(directory)
            }
        }
        return directory
    }

    /// Writes a file, replacing what has its name, and makes the directories above it.
    @discardableResult
    public func write(_ bytes: some Sequence<UInt8>, to relative: String) throws -> FilePath {
        let parent = FilePath(relative).removingLastComponent()
        if !parent.isEmpty { try directory(parent.string) }
        let path = path(relative)
        try LocalFileSystem().remove(path)
        let file = try File.create(path)
        try Array(bytes).withUnsafeBytes { try file.write($0, at: 0) }
        return path
    }

    /// Writes a file of text; see `write(_:to:)`.
    @discardableResult
    public func write(_ text: String, to relative: String) throws -> FilePath {
        try write(text.utf8, to: relative)
    }

    /// Makes a file as long as that without its bytes: what was not in it is zeros.
    public func stretch(_ path: FilePath, to size: Int64) throws {
        try Tool.check("truncate", ["-s", "\(size)", path.string])
    }

    /// Makes a symbolic link.
    @discardableResult
    public func link(_ relative: String, to target: String) throws -> FilePath {
        let path = path(relative)
        try FileManager.default.createSymbolicLink(
            atPath: path.string,
            withDestinationPath: target
        )
        return path
    }

    /// A file's bytes.
    public func read(_ relative: String) throws -> [UInt8] {
        let file = try File.open(path(relative))
        return try file.readExactly(count: Int(file.info().size), at: 0)
    }

    /// Whether there is something with this name, be it a link to nowhere.
    public func exists(_ relative: String) -> Bool {
        (try? FileInfo(of: path(relative))) != nil
    }

    /// All that is in the sandbox, or in a directory of it; see `Contents`.
    public func contents(of relative: String? = nil, hashing: Bool = true) throws -> Contents {
        try Contents(of: relative.map { path($0) } ?? path, hashing: hashing)
    }
}

/// What a directory holds, to be compared with what it held before.
public struct Contents: Equatable, Sendable, CustomStringConvertible {
    /// One name.
    public struct Item: Equatable, Sendable, CustomStringConvertible {
        public var path: RelativePath
        public var kind: FileInfo.Kind
        /// Permission bits.
        public var mode: UInt16
        /// Bytes; 0 for what is not a file.
        public var size: Int64
        /// Nanoseconds since 1970-01-01 UTC.
        public var modified: Int64
        /// A file's SHA-256, or a link's target.
        public var detail: String

        public var description: String {
            "\(path) \(kind) \(String(mode, radix: 8)) \(size) \(modified) \(detail)"
        }
    }

    /// Parents before children, names in the order of their bytes.
    public var items: [Item] = []

    /// Reads a directory.
    ///
    /// Hashing opens and closes every file, which takes this process's SQLite locks from a database
    /// among them (fcntl(2)): where a connection of this process is open, do without.
    public init(of directory: FilePath, hashing: Bool = true) throws {
        try Directory.open(directory).walk(failed: { throw $1 }) { walked in
            items.append(try Self.item(walked, hashing: hashing))
            return .descend
        }
    }

    private static func item(_ walked: WalkedFile, hashing: Bool) throws -> Item {
        var detail = ""
        if walked.info.kind == .link {
            detail = "→ \(printable(bytes: try walked.directory.linkTarget(walked.name)))"
        } else if walked.info.kind == .file, hashing {
            let file = try walked.directory.file(walked.name)
            let bytes = try file.readExactly(count: Int(walked.info.size), at: 0)
            detail = bytes.withUnsafeBytes { Digest(of: $0) }.description
        }
        return Item(
            path: walked.path,
            kind: walked.info.kind,
            mode: walked.info.mode,
            size: walked.info.kind == .file ? walked.info.size : 0,
            modified: walked.info.modified,
            detail: detail
        )
    }

    /// The paths, printable.
    public var paths: [String] { items.map(\.path.description) }

    public var description: String { items.map(\.description).joined(separator: "\n") }
}
