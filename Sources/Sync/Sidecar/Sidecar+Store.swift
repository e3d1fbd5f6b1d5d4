internal import Files
public import SystemPackage

// Which store a sidecar is for: its directory's name does not tell.
extension Sidecar {
    static let storeFileName = "store"
    /// Longer paths than any system has.
    private static let longestPath: Int64 = 1 << 16

    /// Notes which store this is the sidecar of.
    ///
    /// - Throws: `FileError`.
    public func note(store: FilePath) throws {
        guard try Self.store(in: directory) != store else { return }
        try LocalFileSystem()
            .write(Array(store.string.utf8), to: directory.appending(Self.storeFileName))
    }

    /// Returns the store whose sidecar is in a directory; `nil` if there is none, or it does not say.
    ///
    /// - Throws: `FileError`.
    public static func store(in directory: FilePath) throws -> FilePath? {
        let path = directory.appending(storeFileName)
        guard try isThere(in: directory), try FileInfo.ifPresent(path) != nil else { return nil }
        let bytes = try File.contents(of: path, limit: longestPath)
        return String(validating: bytes, as: UTF8.self).map { FilePath($0) }
    }
}
