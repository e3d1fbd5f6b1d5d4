internal import CFuse
internal import Files
internal import Foundation
internal import Synchronization
internal import SystemPackage

/// A server that answers the kernel's requests about a tree on the threads of its queue.
final class Server: Sendable {
    /// The number of threads.
    ///
    /// Each may hold a segment's buffers, and one reader rarely keeps more than two busy.
    private static let threads = 4
    /// The seconds for which the kernel may cache constant facts.
    private static let longTime = 3600.0
    /// The seconds for which the kernel may cache changeable facts, since it sends many requests at once.
    private static let shortTime = 1.0

    private struct Opened {
        var files: [UInt64: any ByteSource] = [:]
        var listings: [UInt64: [MountedName]] = [:]
        /// The last assigned number.
        var last: UInt64 = 0
    }

    /// A request of the kernel, which is answered once.
    private struct Request: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private let tree: any MountedTree
    private let queue = RequestQueue(threads: threads)
    private let opened = Mutex(Opened())
    private let isEnding = Atomic(false)

    init(_ tree: any MountedTree) { self.tree = tree }

    /// Makes new requests fail, and waits until the earlier ones are answered.
    func finish() {
        isEnding.store(true, ordering: .relaxed)
        queue.finish()
        opened.withLock { $0 = Opened() }
    }

    // MARK: - Calls

    /// The callbacks of libfuse; each receives the server.
    static let calls = cfuse_calls(
        look_up: { tree, request, directory, name in
            guard let name else { return }
            let bytes = UnsafeBufferPointer(start: name, count: strlen(name))
                .map { UInt8(bitPattern: $0) }
            answer(tree, request) { (server, request) throws(Errno) in
                let node = try server.tree.node(named: bytes, in: directory)
                server.withRecord(of: node) { cfuse_reply_entry(request, $0) }
            }
        },
        describe: { tree, request, inode in
            answer(tree, request) { (server, request) throws(Errno) in
                let node = try server.tree.node(inode)
                server.withRecord(of: node) { cfuse_reply_attributes(request, $0) }
            }
        },
        read_link: { tree, request, inode in
            answer(tree, request) { (server, request) throws(Errno) in
                let target = try server.tree.target(of: inode)
                (target.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
                    cfuse_reply_target(request, $0.baseAddress)
                }
            }
        },
        open: { tree, request, inode in
            answer(tree, request) { (server, request) throws(Errno) in
                let file = try server.tree.open(inode)
                server.reply(to: request) { $0.files[$1] = file }
            }
        },
        read: { tree, request, file, count, offset in
            answer(tree, request) { (server, request) throws(Errno) in
                try server.read(file, count, at: offset, for: request)
            }
        },
        close: { tree, request, file in
            answer(tree, request) { (server, request) throws(Errno) in
                server.opened.withLock { $0.files[file] = nil }
                cfuse_reply_error(request, 0)
            }
        },
        open_directory: { tree, request, inode in
            answer(tree, request) { (server, request) throws(Errno) in
                let names = try server.tree.names(in: inode)
                server.reply(to: request) { $0.listings[$1] = names }
            }
        },
        list: { tree, request, listing, count, offset in
            answer(tree, request) { (server, request) throws(Errno) in
                server.list(listing, count, from: Int(offset), for: request)
            }
        },
        close_directory: { tree, request, listing in
            answer(tree, request) { (server, request) throws(Errno) in
                server.opened.withLock { $0.listings[listing] = nil }
                cfuse_reply_error(request, 0)
            }
        },
        tell_space: { tree, request in
            answer(tree, request) { (server, request) throws(Errno) in
                let (bytes, files) = server.tree.extent
                cfuse_reply_space(request, UInt64(max(0, bytes)), UInt64(files))
            }
        }
    )

    /// Queues a request, which is answered by `body` or by its error.
    private static func answer(
        _ tree: UnsafeMutableRawPointer?,
        _ request: UnsafeMutableRawPointer?,
        _ body: @escaping @Sendable (Server, UnsafeMutableRawPointer) throws(Errno) -> Void
    ) {
        guard let tree, let request else { return }
        let server = Unmanaged<Server>.fromOpaque(tree).takeUnretainedValue()
        let handed = Request(pointer: request)
        server.queue.add {
            do throws(Errno) {
                guard !server.isEnding.load(ordering: .relaxed) else { throw .interrupted }
                try body(server, handed.pointer)
            } catch {
                cfuse_reply_error(handed.pointer, error.rawValue)
            }
        }
    }

    // MARK: - Answers

    /// Assigns a number to an opened file or listing, and sends it to the kernel.
    ///
    /// If the request is no longer pending, closes it again.
    private func reply(
        to request: UnsafeMutableRawPointer,
        keeping: (inout Opened, UInt64) -> Void
    ) {
        let number = opened.withLock { opened in
            opened.last += 1
            keeping(&opened, opened.last)
            return opened.last
        }
        guard cfuse_reply_open(request, number) != 0 else { return }
        opened.withLock {
            $0.files[number] = nil
            $0.listings[number] = nil
        }
    }

    private func read(
        _ file: UInt64,
        _ count: Int,
        at offset: Int64,
        for request: UnsafeMutableRawPointer
    ) throws(Errno) {
        guard let source = opened.withLock({ $0.files[file] }) else { throw .badFileDescriptor }
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: count)
        defer { buffer.deallocate() }
        do {
            let length = try source.read(into: buffer, at: offset)
            cfuse_reply_bytes(request, buffer.baseAddress, length)
        } catch {
            throw error as? Errno ?? .ioError
        }
    }

    /// Answers with as many names as fit.
    ///
    /// Each name's offset is its index in the listing plus one.
    private func list(
        _ listing: UInt64,
        _ count: Int,
        from start: Int,
        for request: UnsafeMutableRawPointer
    ) {
        let names = opened.withLock { $0.listings[listing] } ?? []
        let part = UnsafeMutableBufferPointer<CChar>.allocate(capacity: count)
        defer { part.deallocate() }
        var length = 0
        for index in min(max(0, start), names.count)..<names.count {
            let name = names[index]
            let rest = UnsafeMutableBufferPointer(rebasing: part[length...])
            let taken = (name.name.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
                cfuse_add_name(
                    request,
                    rest.baseAddress,
                    rest.count,
                    $0.baseAddress,
                    name.inode,
                    name.kind.bits,
                    Int64(index + 1)
                )
            }
            guard taken <= rest.count else { break }
            length += taken
        }
        cfuse_reply_bytes(request, part.baseAddress, length)
    }

    private func withRecord(
        of node: MountedNode,
        _ body: (UnsafePointer<cfuse_node>) -> Void
    ) {
        var record = cfuse_node()
        record.inode = node.inode
        record.mode = node.kind.bits | UInt32(node.mode & 0o7777)
        record.owner = node.owner
        record.group = node.group
        record.size = node.size
        record.modified = node.modified
        record.validity = node.isFleeting ? Self.shortTime : Self.longTime
        withUnsafePointer(to: record, body)
    }
}

extension MountedNode.Kind {
    /// The bits for the kind in a mode (inode(7)).
    fileprivate var bits: UInt32 {
        switch self {
        case .file: UInt32(S_IFREG)
        case .directory: UInt32(S_IFDIR)
        case .link: UInt32(S_IFLNK)
        }
    }
}
