internal import CFiles
internal import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension File {
    /// Finds another process that has a record lock (fcntl(2)) in a range of the file.
    ///
    /// - Returns: `nil` where there is none; the holder's process is 0 where the system does not
    ///   tell, as for one in another container.
    public func recordLockHolder(from start: Int64, length: Int64) throws -> LockHolder? {
        var process: pid_t = 0
        switch cfiles_find_lock(descriptor, off_t(start), off_t(length), &process) {
        case 0: return nil
        case 1: return LockHolder(process: process)
        default: throw FileError.failed(.lock, path, Errno(rawValue: errno))
        }
    }

    /// Takes a shared record lock of a range, without waiting.
    ///
    /// It is released when any descriptor of the file is closed in this process.
    ///
    /// - Returns: whether the lock was granted.
    public func lockRecordShared(from start: Int64, length: Int64) throws -> Bool {
        if cfiles_lock_shared(descriptor, off_t(start), off_t(length)) == 0 { return true }
        guard errno == EAGAIN || errno == EACCES else {
            throw FileError.failed(.lock, path, Errno(rawValue: errno))
        }
        return false
    }
}

extension LockHolder {
    /// The other processes that have one of the files open, each with the first that was found, as far
    /// as the system lets us see: those of the same user, or all for root, where there is a proc file
    /// system.
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
            // Looked at again, since a child of ours may have become another program between.
            guard file() != nil, !isBeingStarted(process), let file = file() else { return nil }
            return (LockHolder(process: process), file)
        }
    }

    /// Whether a process is a child of ours that has yet to become another program: till then it has
    /// copies of our descriptors, and uses none of them.
    private static func isBeingStarted(_ process: Int32) -> Bool {
        func read(_ process: Int32, _ name: String) -> [UInt8]? {
            try? readSystemFile(FilePath("/proc/\(process)/\(name)"))
        }
        // 2345 (a name, of any bytes) S 1234 …: the fields after the name are its state and its parent.
        guard let status = read(process, "stat"), let end = status.lastIndex(of: UInt8(ascii: ")")),
            String(decoding: status[end...], as: UTF8.self).split(separator: " ").dropFirst(2).first
                == "\(getpid())"
        else { return false }
        // In the middle of execve(2) it has none.
        let command = read(process, "cmdline")
        return command == [] || command != nil && command == read(getpid(), "cmdline")
    }
}

extension Directory {
    /// What a name leads to, following symbolic links.
    fileprivate func targetIdentity(_ name: FileName) -> FileInfo.Identity? {
        var status = stat()
        guard name.withCString({ fstatat(descriptor, $0, &status, 0) }) == 0 else { return nil }
        return FileInfo(status).identity
    }
}
