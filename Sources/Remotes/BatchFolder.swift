public import SystemPackage

/// A remote folder that lists, transfers and removes many files at the cost of one.
///
/// It is for files whose names describe their content, so that two files of one name are equal. The promises about
/// taken names do not apply.
public protocol BatchFolder: RemoteFolder {
    /// Returns the files of several folders at once, including hidden ones.
    ///
    /// - Parameter folders: the folders, each as the names of the subfolders from this one; none is this folder itself.
    /// - Returns: the files by folder; none for a missing folder.
    /// - Throws: `RemoteError.missing` if the remote folder itself does not exist.
    func list(_ folders: [[String]]) async throws -> [[String]: [RemoteFile]]

    /// Uploads files of this machine, which stay where they are.
    ///
    /// An existing file of the same size is taken for the new one. One of another size is an incomplete upload, and is
    /// replaced. Some servers show a file before it is complete.
    /// - Parameters:
    ///   - files: the paths of the files, and their places in the folder.
    ///   - scratch: a directory for temporary data on this machine.
    /// - Throws: `RemoteError`; some files may have been uploaded then.
    func upload(_ files: [(path: FilePath, place: BatchPlace)], scratch: FilePath) async throws

    /// Downloads files of the folder into a directory of this machine, with the same subdirectories.
    ///
    /// - Parameters:
    ///   - places: the files; missing ones are skipped.
    ///   - directory: an empty directory.
    ///   - scratch: a directory for temporary data on this machine.
    /// - Throws: `RemoteError`; some files may have been downloaded then, completely or in part.
    func download(_ places: [BatchPlace], to directory: FilePath, scratch: FilePath) async throws

    /// Removes files, and ignores missing ones.
    ///
    /// - Throws: `RemoteError`; some files may have been removed then.
    func delete(_ places: [BatchPlace], scratch: FilePath) async throws
}

/// The place of a file in a remote folder.
public struct BatchPlace: Hashable, Sendable {
    /// The names of the subfolders from the remote folder to the file.
    public var folders: [String]
    public var name: String

    public init(_ folders: [String], _ name: String) {
        self.folders = folders
        self.name = name
    }

    /// The path from the remote folder, with slashes.
    public var path: String { (folders + [name]).joined(separator: "/") }
}
