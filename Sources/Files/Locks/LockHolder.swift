internal import Foundation
public import SystemPackage

/// The process that holds a lock.
public struct LockHolder: Sendable, Equatable, CustomStringConvertible {
    public let process: Int32
    /// The program and its first argument, if the system reports them.
    public let command: String?

    public init(process: Int32) {
        self.process = process
        command = LockHolder.commandLine(of: process)
    }

    public var description: String {
        guard process > 0 else { return "another process" }
        return command.map { "process \(process) (\($0))" } ?? "process \(process)"
    }

    /// Returns the holder of a directory's lock that blocks other runs; see `ours(of:)`.
    ///
    /// - Throws: `FileError` if the directory does not exist.
    public static func of(_ path: FilePath) throws -> LockHolder? {
        ours(of: try Directory.open(path).info())
    }

    /// Returns the first holder of a directory's lock that is no stranger; `nil` if the system shows none.
    static func ours(of directory: FileInfo) -> LockHolder? {
        all(of: directory.identity).first { !$0.isStranger(to: directory) }
    }

    /// Returns the holders of a directory's flock(2) lock that the system reports (proc_locks(5)).
    static func all(of directory: FileInfo.Identity) -> [LockHolder] {
        guard let table = try? String(decoding: readSystemFile("/proc/locks"), as: UTF8.self) else {
            return []
        }
        return table.split(separator: "\n").compactMap { line in
            // 1: FLOCK  ADVISORY  WRITE 2345 fe:00:6789 0 EOF
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]),
                process > 0,
                fields[5].split(separator: ":").last.flatMap({ UInt64($0) }) == directory.inode
            else { return nil }
            return LockHolder(process: process)
        }
    }

    /// Returns whether a process is certainly a stranger.
    ///
    /// Its user is neither this process's user nor root nor the directory's owner, and may not change the directory.
    ///
    /// A lock whose process has ended also belongs to a stranger: a child holds it, and this program leaves no such
    /// children.
    func isStranger(to directory: FileInfo) -> Bool {
        guard directory.mode & 0o002 == 0 else { return false }
        guard let bytes = try? readSystemFile(FilePath("/proc/\(process)/status")) else {
            return kill(process, 0) == -1 && errno == ESRCH
        }
        var numbers: [Substring: [UInt32]] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            if let name = fields.first, ["Uid:", "Gid:", "Groups:"].contains(name) {
                numbers[name] = fields.dropFirst().compactMap { UInt32($0) }
            }
        }
        // The first number is the real user; the effective one may be root, since everybody may start a set-user-id
        // program.
        guard let user = numbers["Uid:"]?.first, ![0, geteuid(), directory.owner].contains(user)
        else { return false }
        let groups = (numbers["Gid:"] ?? []) + (numbers["Groups:"] ?? [])
        return directory.mode & 0o020 == 0 || !groups.contains(directory.group)
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
    /// Returns the other processes that have one of the files open, each with the first such file.
    ///
    /// If the system has a proc file system, it shows the processes of the same user, or all of them to root.
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
            // The second look is needed because a child of this process may have become another program.
            guard file() != nil, !isBeingStarted(process), let file = file() else { return nil }
            return (LockHolder(process: process), file)
        }
    }

    /// Returns whether a process is a child of this one that has not become another program yet.
    ///
    /// Until then it has copies of this process's descriptors, but does not use them.
    private static func isBeingStarted(_ process: Int32) -> Bool {
        func read(_ process: Int32, _ name: String) -> [UInt8]? {
            try? readSystemFile(FilePath("/proc/\(process)/\(name)"))
        }
        // The format is: 2345 (a name, of any bytes) S 1234 …. The fields after the name are the state and the parent.
        guard let status = read(process, "stat"), let end = status.lastIndex(of: UInt8(ascii: ")")),
            String(decoding: status[end...], as: UTF8.self).split(separator: " ").dropFirst(2).first
                == "\(getpid())"
        else { return false }
        // During execve(2) it has no command line.
        let command = read(process, "cmdline")
        return command == [] || command != nil && command == read(getpid(), "cmdline")
    }
}

extension Directory {
    /// Returns the identity of the file at a name, following symbolic links.
    fileprivate func targetIdentity(_ name: FileName) -> FileInfo.Identity? {
        var status = stat()
        guard name.withCString({ fstatat(descriptor, $0, &status, 0) }) == 0 else { return nil }
        return FileInfo(status).identity
    }
}

/// Reads a file of the proc file system, which reports no valid size.
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
