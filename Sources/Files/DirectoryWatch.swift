internal import Foundation
internal import Synchronization
public import SystemPackage

/// A watch on some directories, which notices created, removed and written names.
///
/// On Linux the kernel reports changes (inotify(7)), except those that another machine makes to a mounted file system.
/// Elsewhere, and if the kernel has no more watches, each look compares the names. FSEvents would need a run loop, and
/// kqueue a descriptor for every file.
public final class DirectoryWatch: Sendable {
    private let paths: [FilePath]
    /// The kernel's queue of events; `nil` to compare names.
    private let queue: FileDescriptor?
    private let seen: Mutex<[String]>

    /// Starts to watch; missing directories are ignored.
    public convenience init(_ paths: [FilePath]) {
        self.init(paths, usesEvents: true)
    }

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - paths: the directories.
    ///   - usesEvents: whether to use the kernel's events if possible.
    init(_ paths: [FilePath], usesEvents: Bool) {
        self.paths = paths
        queue = usesEvents ? Self.openQueue(paths) : nil
        seen = Mutex(queue == nil ? Self.look(paths) : [])
    }

    deinit { try? queue?.close() }

    /// Waits some time for a change, and then until nothing changes for a moment.
    ///
    /// - Returns: whether there was a change since the last call.
    public func wait(milliseconds: Int32) -> Bool {
        guard hasChanged(within: milliseconds) else { return false }
        // Many files may arrive at once, but a long copy is not waited for.
        var rounds = 10
        while rounds > 0, hasChanged(within: 50) { rounds -= 1 }
        return true
    }

    private func hasChanged(within milliseconds: Int32) -> Bool {
        guard let queue else {
            usleep(UInt32(milliseconds) * 1000)
            let now = Self.look(paths)
            return seen.withLock { seen in
                defer { seen = now }
                return seen != now
            }
        }
        var entry = pollfd(fd: queue.rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while (try? buffer.withUnsafeMutableBytes { try queue.read(into: $0) }) ?? 0 > 0 {}
        return true
    }

    private static func openQueue(_ paths: [FilePath]) -> FileDescriptor? {
        #if canImport(Darwin)
        return nil
        #else
        let number = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard number >= 0 else { return nil }
        let mask =
            IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF
        for path in paths {
            let watch = path.withPlatformString { inotify_add_watch(number, $0, UInt32(mask)) }
            guard watch >= 0 || errno == ENOENT || errno == ENOTDIR else {
                close(number)
                return nil
            }
        }
        return FileDescriptor(rawValue: number)
        #endif
    }

    /// Returns all names with the facts that change when a file is written.
    private static func look(_ paths: [FilePath]) -> [String] {
        paths.flatMap { path -> [String] in
            guard let directory = try? Directory.open(path), let names = try? directory.names()
            else { return ["\(path)"] }
            return names.map { name in
                let info = try? directory.info(name)
                return "\(path)/\(name) \(info?.size ?? 0) \(info?.modified ?? 0)"
            }.sorted()
        }
    }
}
