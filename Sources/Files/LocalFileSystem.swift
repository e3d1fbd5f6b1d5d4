internal import CFiles
internal import Foundation
public import SystemPackage

/// The real file system.
public struct LocalFileSystem: FileSystem {
    public init() {}

    public func createDirectory(_ path: FilePath) throws {
        try systemCall(.create, path) { path.withPlatformString { mkdir($0, 0o700) } }
    }

    public func move(_ path: FilePath, to newPath: FilePath) throws {
        let status = call(path, newPath) { cfiles_rename_exclusive(AT_FDCWD, $0, AT_FDCWD, $1) }
        if status == 0 { return }
        switch errno {
        case EEXIST: throw FileError.exists(newPath)
        case EINVAL, ENOSYS, ENOTSUP: try moveByLooking(path, to: newPath)
        default: throw lastError(.move, path)
        }
    }

    /// Renames on a file system that has no exclusive rename.
    ///
    /// A regular file gets a second name; link(2) fails if that is taken. Directories cannot have a second name, nor
    /// can files on some file systems (on rclone's mounts, link(2) may fail with any error). Then the only way is to
    /// look first. The lock keeps other runs away from these names.
    private func moveByLooking(_ path: FilePath, to newPath: FilePath) throws {
        if call(path, newPath, link) == 0 {
            do {
                try remove(path)
            } catch {
                // A failed move must not look like a completed one.
                try? remove(newPath)
                throw error
            }
            return
        }
        if errno == EEXIST || (try? FileInfo(of: newPath)) != nil {
            throw FileError.exists(newPath)
        }
        guard call(path, newPath, cfiles_rename) == 0 else { throw lastError(.move, path) }
    }

    /// Creates a symbolic link (symlink(2)).
    ///
    /// - Throws: `FileError`; `.exists` if the name is taken.
    public func makeLink(at path: FilePath, to target: FilePath) throws {
        try systemCall(.link, path) {
            path.withPlatformString { name in target.withPlatformString { symlink($0, name) } }
        }
    }

    public func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        if call(first, second, cfiles_rename_exchange) == 0 { return true }
        switch errno {
        case EINVAL, ENOSYS, ENOTSUP: return false
        default: throw lastError(.exchange, first)
        }
    }

    public func remove(_ path: FilePath) throws {
        guard let info = try FileInfo.ifPresent(path) else { return }
        guard info.kind == .directory else {
            guard uninterrupted({ path.withPlatformString { unlink($0) } }) == 0 || errno == ENOENT
            else { throw lastError(.remove, path) }
            return
        }
        // A mounted file system does not belong to this directory.
        guard try !path.isMountPoint() else {
            throw FileError.failed(.remove, path, .resourceBusy)
        }
        // A directory that its owner may not list or change needs other permissions to be emptied.
        if info.mode & 0o700 != 0o700 {
            _ = uninterrupted { path.withPlatformString { chmod($0, 0o700) } }
        }
        try Directory.open(path).removeContents()
        try removeEmptyDirectory(path)
    }

    /// Removes an empty directory, if it exists.
    ///
    /// - Throws: `FileError.exists`, or `.failed` with `directoryNotEmpty`, if it is not empty.
    public func removeEmptyDirectory(_ path: FilePath) throws {
        guard uninterrupted({ path.withPlatformString { rmdir($0) } }) == 0 || errno == ENOENT
        else { throw lastError(.remove, path) }
    }

    public func write(_ bytes: [UInt8], to path: FilePath) throws {
        try write(bytes, to: path, mode: 0o600)
    }

    /// Writes a small file like `write(_:to:)`, with the given permission bits.
    public func write(_ bytes: [UInt8], to path: FilePath, mode: UInt16) throws {
        let draft = Self.draft(of: path)
        try remove(draft)
        do {
            let file = try File.create(draft)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            if mode != 0o600 { try file.setMode(mode) }
            try file.sync()
            guard call(draft, path, cfiles_rename) == 0 else { throw lastError(.move, draft) }
        } catch {
            try? remove(draft)
            throw error
        }
        let parent = path.removingLastComponent()
        try sync(parent.isEmpty ? "." : parent)
    }

    /// Returns the path at which a file is written before it gets its name; a killed run may leave it.
    public static func draft(of path: FilePath) -> FilePath {
        path.derived(".draft", prefix: ".")
    }

    public func sync(_ path: FilePath) throws {
        do {
            try Directory.open(path).sync()
        } catch FileError.notA(.directory, _) {
            try File.open(path).sync()
        }
    }

    private func call(
        _ path: FilePath,
        _ newPath: FilePath,
        _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> CInt
    ) -> CInt {
        uninterrupted {
            path.withPlatformString { from in newPath.withPlatformString { call(from, $0) } }
        }
    }
}

extension FileInfo {
    /// Reads the system's record of a path, without following a symbolic link at its end.
    public init(of path: FilePath) throws {
        var status = stat()
        try systemCall(.inspect, path) { path.withPlatformString { lstat($0, &status) } }
        self.init(status)
    }

    /// Returns the system's record of a path; `nil` if it does not exist.
    public static func ifPresent(_ path: FilePath) throws -> FileInfo? {
        do {
            return try FileInfo(of: path)
        } catch let error as FileError where error.isMissing {
            return nil
        }
    }

    /// Returns whether it is certain that nothing exists at a path.
    public static func isMissing(_ path: FilePath) -> Bool {
        do { return try ifPresent(path) == nil } catch { return false }
    }
}

extension FilePath {
    /// Returns the absolute path without symbolic links and `..` (realpath(3)).
    ///
    /// - Throws: `FileError` if a component is missing.
    public func resolved() throws -> FilePath {
        guard let resolved = withPlatformString({ realpath($0, nil) }) else {
            throw lastError(.open, self)
        }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    /// The absolute path without symbolic links and `..`, as far as its components exist; a link may lead to what is
    /// missing.
    public var resolvedIfPresent: FilePath {
        var (above, missing, links) = (self, [FilePath.Component](), 0)
        while !above.isEmpty {
            if let resolved = try? above.resolved() {
                return resolved.appending(missing.reversed()).lexicallyNormalized()
            }
            if links < 40, let target = try? above.linkTarget() {
                (above, links) = (target, links + 1)
                continue
            }
            guard let last = above.lastComponent else { return self }
            missing.append(last)
            above.removeLastComponent()
        }
        let directory = (try? FilePath(".").resolved()) ?? "."
        return directory.appending(missing.reversed()).lexicallyNormalized()
    }

    /// Returns the target of this symbolic link (readlink(2)); a relative target is resolved against the link's
    /// directory.
    public func linkTarget() throws -> FilePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        try systemCall(.open, self) { withPlatformString { readlink($0, &buffer, Int(PATH_MAX)) } }
        return removingLastComponent().pushing(FilePath(platformString: buffer))
    }
}

extension Directory {
    /// Removes everything in the directory.
    ///
    /// Mounts in it stay, and cause an error.
    func removeContents() throws {
        for name in try names() {
            do {
                let info = try info(name)
                guard info.kind == .directory else {
                    try removeFile(name)
                    continue
                }
                guard try !isMountPoint(name) else {
                    throw FileError.failed(.remove, path(of: name), .resourceBusy)
                }
                if info.mode & 0o700 != 0o700 {
                    try? setAttributes(of: name, isLink: false, mode: 0o700, modified: 0)
                }
                try directory(name).removeContents()
                try removeDirectory(name)
            } catch let error as FileError where error.isMissing {
                continue
            }
        }
    }
}
