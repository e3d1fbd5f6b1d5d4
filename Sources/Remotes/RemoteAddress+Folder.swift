public import Files
internal import SystemPackage

extension RemoteAddress {
    /// Returns the folder at this address.
    ///
    /// - Parameters:
    ///   - rclone: the settings for a folder that rclone reaches.
    ///   - fileSystem: changes the disk for a directory.
    /// - Returns: the folder, which need not exist.
    public func folder(
        through rclone: @autoclosure () throws -> Rclone,
        fileSystem: any FileSystem
    ) rethrows -> any RemoteFolder {
        switch self {
        case .directory(let path): LocalFolder(FilePath(path), fileSystem: fileSystem)
        case .rclone(let place): try RcloneFolder(place, through: rclone())
        }
    }
}
