public import SystemPackage

/// The operations that change a disk.
///
/// Code that moves whole directories uses this protocol, so that a test can make each step fail. Code that reads, or
/// fills a directory that is still private, uses the real file system.
public protocol FileSystem: Sendable {
    /// Creates a directory, mode 0700 whatever the umask.
    ///
    /// - Throws: `FileError.exists` if the name is taken.
    func createDirectory(_ path: FilePath) throws

    /// Renames a file or directory, and never replaces anything.
    ///
    /// - Throws: `FileError.exists` if the new name is taken.
    func move(_ path: FilePath, to newPath: FilePath) throws

    /// Exchanges two names in one step, so that neither of them is ever missing.
    ///
    /// - Returns: `false`, without a change, if the file system does not support it.
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool

    /// Removes a file, a symbolic link or a whole directory, if it exists.
    func remove(_ path: FilePath) throws

    /// Writes a small file with mode 0600, and replaces any file of its name. After a crash the file is complete,
    /// unchanged or missing.
    func write(_ bytes: [UInt8], to path: FilePath) throws

    /// Flushes a file, or a directory's entries, to the disk, following symbolic links.
    func sync(_ path: FilePath) throws

    /// Sets the permission bits of a directory (0 to 0o7777).
    func setMode(_ mode: UInt16, of path: FilePath) throws
}

extension FileSystem {
    public func setMode(_ mode: UInt16, of path: FilePath) throws {
        try Directory.open(path).setMode(mode)
    }
}

extension FileSystem {
    /// Creates a directory with mode 0700, and its missing parents, each synced to the disk.
    ///
    /// - Throws: `FileError`; `.notA` if a component is no directory.
    public func createDirectories(_ path: FilePath) throws { _ = try createMissing(path) }

    /// Creates a directory as `createDirectories` does.
    ///
    /// - Returns: the created directories, parents first.
    /// - Throws: `FileError`; `.notA` if a component is no directory.
    public func createMissing(_ path: FilePath) throws -> [FilePath] {
        guard !path.isEmpty else { return [] }
        do {
            _ = try Directory.open(path)
            return []
        } catch let error as FileError where error.isMissing {
            let parent = path.removingLastComponent()
            let made = try createMissing(parent)
            do {
                try createDirectory(path)
            } catch FileError.exists {
                // Another run created it first.
                return made
            }
            try sync(parent.isEmpty ? "." : parent)
            return made + [path]
        }
    }
}
