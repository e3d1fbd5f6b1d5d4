internal import CFuse
internal import Files
internal import Synchronization
internal import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Answers the kernel's requests about a tree, each on a thread of its own queue.
final class Server: Sendable {
    /// Each may hold a segment's buffers; one reader rarely keeps more than two busy.
    private static let threads = 4
    /// For how many seconds the kernel relies on what does not change.
    private static let longTime = 3600.0
    /// For how many seconds it relies on what may: many questions are asked at once.
    private static let shortTime = 1.0

    private struct Opened {
        var files: [UInt64: any ByteSource] = [:]
        var listings: [UInt64: [MountedName]] = [:]
        /// The number that was given last.
        var last: UInt64 = 0
    }

    /// A request of the kernel's, which is answered once.
    private struct Request: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private let tree: any MountedTree
    private let queue = RequestQueue(threads: threads)
    private let opened = Mutex(Opened())
    private let isEnding = Atomic(false)

    init(_ tree: any MountedTree) { self.tree = tree }

    /// Has requests from now on fail, and waits until those before have been answered.
    func finish() {
        isEnding.store(true, ordering: .relaxed)
        queue.finish()
        opened.withLock { $0 = Opened() }
    }

    // MARK: - Calls

    /// What libfuse calls; each is given the server.
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

    /// Has a request answered as soon as a thread is free, by `body` or by its error.
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

    /// Gives what was opened a number, and tells it the kernel; if nobody waits for it any more, it is closed.
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
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
        defer { buffer.deallocate() }
        do {
            let length = try source.read(into: buffer, at: offset)
            cfuse_reply_bytes(request, buffer.baseAddress, length)
        } catch {
            throw error as? Errno ?? .ioError
        }
    }

    /// Answers with as many names as there is room for; each one's offset is its place in the listing and one.
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
    /// Its bits of a mode (inode(7)).
    fileprivate var bits: UInt32 {
        switch self {
        case .file: UInt32(S_IFREG)
        case .directory: UInt32(S_IFDIR)
        case .link: UInt32(S_IFLNK)
        }
    }
}
