public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A lock on a directory that keeps other runs out until it is released: flock(2) on the
/// directory itself.
///
/// The kernel holds it, so nothing is left behind by a run that was killed, and no file is
/// written. It belongs to the directory, not to its name: after an exchange of names it is where
/// the directory went.
public final class FileLock: Sendable {
    let directory: Directory

    private init(holding directory: Directory) {
        self.directory = directory
    }

    deinit {
        // Not by closing alone: a child that is just being started has copies of all descriptors until
        // it becomes another program, and they would keep the lock.
        flock(directory.descriptor, LOCK_UN)
    }

    /// Whether this is the lock of a directory, by whatever path.
    ///
    /// - Throws: `FileError` where there is no such directory.
    public func isHeld(on path: FilePath) throws -> Bool {
        try Directory.open(path).info().identity == directory.info().identity
    }

    /// Takes the lock, trying again until `wait` is over.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - wait: how long to wait for another run; zero tries once.
    ///   - waiting: called with the holder before each wait; what it throws ends the waiting.
    /// - Returns: the lock, which is held until its last reference goes.
    /// - Throws: `FileError.locked` naming the holder; other `FileError`s where the directory cannot
    ///   be opened or locked; what `waiting` throws; `CancellationError`.
    public static func acquire(
        _ path: FilePath,
        wait: Duration = .zero,
        waiting: (LockHolder?) throws -> Void = { _ in }
    ) async throws -> FileLock {
        let start = ContinuousClock.now
        while true {
            if let lock = try attempt(path) { return lock }
            let holder = try LockHolder.of(path)
            guard ContinuousClock.now - start < wait else {
                throw FileError.locked(path, holder: holder)
            }
            try waiting(holder)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Tries once; `nil` where another run has it.
    private static func attempt(_ path: FilePath) throws -> FileLock? {
        let directory = try Directory.open(path)
        while flock(directory.descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EWOULDBLOCK: return nil
            case EINTR: continue
            default: throw FileError.failed(.lock, path, Errno(rawValue: errno))
            }
        }
        let lock = FileLock(holding: directory)
        // While we waited, a restore may have put another directory in its place.
        return try lock.isHeld(on: path) ? lock : nil
    }
}

/// Who holds a lock.
public struct LockHolder: Sendable, Equatable, CustomStringConvertible {
    /// The process.
    public let process: Int32
    /// What the process is called, where the system tells.
    public let command: String?

    /// Names a process.
    public init(process: Int32) {
        self.process = process
        command = LockHolder.commandLine(of: process)
    }

    public var description: String {
        guard process > 0 else { return "another process" }
        return command.map { "process \(process) (\($0))" } ?? "process \(process)"
    }

    /// Finds who holds the flock(2) lock of a directory, where the system tells (proc_locks(5)).
    ///
    /// - Throws: `FileError` where there is no such directory.
    public static func of(_ path: FilePath) throws -> LockHolder? {
        let identity = try Directory.open(path).info().identity
        guard let table = try? String(decoding: readSystemFile("/proc/locks"), as: UTF8.self) else {
            return nil
        }
        for line in table.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 2345 fe:00:6789 0 EOF
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]),
                process > 0,
                fields[5].split(separator: ":").last.flatMap({ UInt64($0) }) == identity.inode
            else { continue }
            return LockHolder(process: process)
        }
        return nil
    }

    private static func commandLine(of process: Int32) -> String? {
        guard let bytes = try? readSystemFile(FilePath("/proc/\(process)/cmdline")) else {
            return nil
        }
        let words = bytes.split(separator: 0).map { printable(bytes: $0) }
        guard let program = words.first?.split(separator: "/").last else { return nil }
        return ([String(program)] + words.dropFirst().prefix(1)).joined(separator: " ")
    }
}

/// Reads a file of the proc file system, whose size says nothing.
func readSystemFile(_ path: FilePath) throws -> [UInt8] {
    let file = try File.open(path)
    var bytes: [UInt8] = []
    while true {
        let part = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = try file.read(
                into: UnsafeMutableRawBufferPointer(buffer),
                at: Int64(bytes.count)
            )
        }
        if part.isEmpty { return bytes }
        bytes += part
    }
}
