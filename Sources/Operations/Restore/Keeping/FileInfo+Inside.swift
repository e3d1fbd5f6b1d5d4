internal import Files
internal import SystemPackage

extension FileInfo {
    /// Returns the information about a path below a directory, reached without following a link.
    ///
    /// Returns `nil` if nothing is there, and that of the file in the way if something on the path is not a directory.
    static func inside(_ root: FilePath, _ path: RelativePath) throws -> FileInfo? {
        var directory = try Directory.open(root)
        do {
            for name in path.parent?.components ?? [] {
                let info = try directory.info(name)
                guard info.kind == .directory else { return info }
                directory = try directory.directory(name)
            }
            return try directory.info(path.name)
        } catch let error as FileError where error.isMissing {
            return nil
        }
    }
}
