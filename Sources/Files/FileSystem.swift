public import SystemPackage

/// The verbs that change a disk.
///
/// Code that moves whole directories goes through this seam, so that a test can make each step fail.
/// Code that reads, or fills a directory that nobody else sees yet, uses the real thing.
public protocol FileSystem: Sendable {
    /// Creates a directory, mode 0700 whatever the umask.
    ///
    /// - Throws: `FileError.exists` if the name is taken.
    func createDirectory(_ path: FilePath) throws

    /// Renames a file or directory, never replacing anything.
    ///
    /// - Throws: `FileError.exists` if the new name is taken.
    func move(_ path: FilePath, to newPath: FilePath) throws

    /// Exchanges two names in one step: at no moment is either of them missing.
    ///
    /// - Returns: `false`, with nothing changed, if the file system cannot do it.
    func swap(_ first: FilePath, _ second: FilePath) throws -> Bool

    /// Removes a file, a symbolic link or a whole directory, if it is there.
    func remove(_ path: FilePath) throws

    /// Writes a small file, mode 0600, replacing any of its name: after a crash it is whole, as it was
    /// before, or not there.
    func write(_ bytes: [UInt8], to path: FilePath) throws

    /// Flushes a file, or a directory's entries, to the disk.
    func sync(_ path: FilePath) throws
}

extension FileSystem {
    /// Creates a directory, mode 0700, and those above it that are missing, each on the disk.
    ///
    /// - Throws: `FileError`; `.notA` if something else has a name on the way.
    public func createDirectories(_ path: FilePath) throws { _ = try createMissing(path) }

    /// Creates a directory as `createDirectories` does.
    ///
    /// - Returns: those that it made, each before what is in it.
    /// - Throws: `FileError`; `.notA` if something else has a name on the way.
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
                // Another run was faster.
                return made
            }
            try sync(parent.isEmpty ? "." : parent)
            return made + [path]
        }
    }
}
