public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The process that holds a lock.
public struct LockHolder: Sendable, Equatable, CustomStringConvertible {
    public let process: Int32
    /// Its program and first argument, if the system tells.
    public let command: String?

    public init(process: Int32) {
        self.process = process
        command = LockHolder.commandLine(of: process)
    }

    public var description: String {
        guard process > 0 else { return "another process" }
        return command.map { "process \(process) (\($0))" } ?? "process \(process)"
    }

    /// Returns the holder of a directory's flock(2) lock, if the system tells (proc_locks(5)).
    ///
    /// - Throws: `FileError` if there is no such directory.
    public static func of(_ path: FilePath) throws -> LockHolder? {
        let identity = try Directory.open(path).info().identity
        guard let table = try? String(decoding: readSystemFile("/proc/locks"), as: UTF8.self) else {
            return nil
        }
        for line in table.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 2345 fe:00:6789 0 EOF
            let fields = line.split(separator: " ")
            if fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0,
                fields[5].split(separator: ":").last.flatMap({ UInt64($0) }) == identity.inode
            {
                return LockHolder(process: process)
            }
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

extension LockHolder {
    /// Returns the other processes that have one of the files open, each with the first that was found.
    ///
    /// The system shows those of the same user, or all to root, if it has a proc file system.
    public static func processes(
        using files: Set<FileInfo.Identity>
    ) -> [(holder: LockHolder, file: FileInfo.Identity)] {
        guard let root = try? Directory.open("/proc"), let names = try? root.names() else {
            return []
        }
        return names.compactMap { name in
            guard let process = Int32(name.description), process != getpid(),
                let descriptors = try? root.directory(name).directory("fd")
            else { return nil }
            func file() -> FileInfo.Identity? {
                let open = (try? descriptors.names()) ?? []
                return open.lazy.compactMap(descriptors.targetIdentity)
                    .first(where: files.contains)
            }
            // Looked at again, since a child of ours may have become another program meanwhile.
            guard file() != nil, !isBeingStarted(process), let file = file() else { return nil }
            return (LockHolder(process: process), file)
        }
    }

    /// Returns whether a process is a child of ours that has yet to become another program.
    ///
    /// Until then it has copies of our descriptors, and uses none of them.
    private static func isBeingStarted(_ process: Int32) -> Bool {
        func read(_ process: Int32, _ name: String) -> [UInt8]? {
            try? readSystemFile(FilePath("/proc/\(process)/\(name)"))
        }
        // 2345 (a name, of any bytes) S 1234 …: the fields after the name are its state and its parent.
        guard let status = read(process, "stat"), let end = status.lastIndex(of: UInt8(ascii: ")")),
            String(decoding: status[end...], as: UTF8.self).split(separator: " ").dropFirst(2).first
                == "\(getpid())"
        else { return false }
        // In the middle of execve(2) it has no command line.
        let command = read(process, "cmdline")
        return command == [] || command != nil && command == read(getpid(), "cmdline")
    }
}

extension Directory {
    /// Returns the identity of the file that a name leads to, following symbolic links.
    fileprivate func targetIdentity(_ name: FileName) -> FileInfo.Identity? {
        var status = stat()
        guard name.withCString({ fstatat(descriptor, $0, &status, 0) }) == 0 else { return nil }
        return FileInfo(status).identity
    }
}

/// Reads a file of the proc file system, whose size says nothing.
func readSystemFile(_ path: FilePath) throws -> [UInt8] {
    let file = try File.open(path)
    var bytes: [UInt8] = []
    while true {
        let part = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            let space = UnsafeMutableRawBufferPointer(buffer)
            count = try file.read(into: space, at: Int64(bytes.count))
        }
        if part.isEmpty { return bytes }
        bytes += part
    }
}
