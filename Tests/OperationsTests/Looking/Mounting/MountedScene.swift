import Age
import Files
import Foundation
import Mounts
import Remotes
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A folder of backups as the kernel would see it, without a kernel.
///
/// Its methods wait for tasks, as the kernel's threads do, and are called within `WorkThread.run`.
struct MountedScene {
    let folder: MountedFolder

    /// Lists a folder; it is listed again whenever somebody looks, unless a pace is given.
    init(
        of folder: BackupFolder,
        _ context: OperationContext,
        now: Date = Date(timeIntervalSince1970: 2_000_000_000),
        pace: Duration = .zero
    ) async throws {
        self.folder = try await MountedFolder(
            of: folder,
            context: context,
            now: { now },
            pace: pace
        )
    }

    /// Finds what has a path below the root.
    func node(_ path: String) throws -> MountedNode {
        var node = try folder.node(MountedNode.root)
        for name in path.split(separator: "/") {
            node = try folder.node(named: Array(name.utf8), in: node.inode)
        }
        return node
    }

    /// The names in a directory, in order.
    func names(_ path: String = "") throws -> [String] {
        try folder.names(in: node(path).inode).map { String(decoding: $0.name, as: UTF8.self) }
    }

    /// Everything in a directory, by path, as `IncrementScene.tree` has it.
    func tree(_ path: String) throws -> [String: String] {
        var tree: [String: String] = [:]
        var last: UInt64 = 0
        func add(_ directory: UInt64, _ prefix: [UInt8]) throws {
            for name in try folder.names(in: directory) {
                let node = try folder.node(named: name.name, in: directory)
                #expect(node.inode == name.inode && node.kind == name.kind)
                #expect(try folder.node(node.inode) == node)
                let bytes = prefix + name.name
                let path = try RelativePath(validating: bytes)
                var text = "\(node.kind) \(node.mode) \(node.modified)"
                switch node.kind {
                case .file: text += try Self.digest(of: contents(node)).description
                case .link:
                    text += String(decoding: try folder.target(of: node.inode), as: UTF8.self)
                case .directory: try add(node.inode, bytes + [UInt8(ascii: "/")])
                }
                tree[path.description] = text
                last = max(last, node.inode)
            }
        }
        let root = try node(path)
        try add(root.inode, [])
        #expect(last < root.inode + 1 << 31)
        return tree
    }

    /// Reads a file in pieces of odd sizes, from its end.
    func contents(_ node: MountedNode) throws -> [UInt8] {
        let file = try folder.open(node.inode)
        var parts: [[UInt8]] = []
        var (end, step) = (node.size, Int64(1))
        while end > 0 {
            let start = max(0, end - step)
            parts.append(try file.readExactly(count: Int(end - start), at: start))
            (end, step) = (start, min(step * 30 + 7, 100_003))
        }
        // Behind its end there is nothing.
        #expect(try file.readExactly(count: 0, at: node.size) == [])
        return Array(parts.reversed().joined())
    }

    static func digest(of bytes: [UInt8]) -> Digest { bytes.withUnsafeBytes { Digest(of: $0) } }

    /// Returns what a directory of this machine is to look like in a mounted backup.
    static func expected(_ directory: FilePath) throws -> [String: String] {
        var tree: [String: String] = [:]
        try Directory.open(directory).walk { _, error in
            Issue.record(error)
        } visit: { file in
            let info = file.info
            let mode = info.kind == .link ? 0o777 : info.mode & ~0o222
            var text = "\(info.kind) \(mode) \(info.modified)"
            let path = file.path.below(directory)
            switch info.kind {
            case .file: text += try Digest(contentsOf: path).description
            case .link:
                text += try FileManager.default.destinationOfSymbolicLink(atPath: path.string)
            default: break
            }
            tree[file.path.description] = text
            return .descend
        }
        return tree
    }

    /// The number that an attempt fails with; `nil` if it does not.
    static func errno<Result>(_ body: () throws -> Result) -> Errno? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? Errno
        }
    }
}
