public import SystemPackage

/// A remote folder that lists, brings and removes many files at the cost of one.
///
/// It is for files whose names say what is in them, so that two of one name are one file: none of the
/// promises about taken names is needed.
public protocol BatchFolder: RemoteFolder {
    /// Returns the files of several folders at once, hidden ones too.
    ///
    /// - Parameter folders: each the names of subfolders on the way from this one; none of them is this one
    ///   itself.
    /// - Returns: by folder; one that is not there has none.
    /// - Throws: `RemoteError.missing` if the remote folder itself is not there.
    func list(_ folders: [[String]]) async throws -> [[String]: [RemoteFile]]

    /// Puts files of this machine into the folder; they stay where they are.
    ///
    /// What is there already with the same size is taken for the file; what is there with another one is a
    /// part of it, and is replaced. Where the server shows a file while it comes, it is seen before it is whole.
    /// - Parameters:
    ///   - files: where they are, and where they go.
    ///   - scratch: a directory for what this machine needs meanwhile.
    /// - Throws: `RemoteError`; some files may be there then.
    func upload(_ files: [(path: FilePath, place: BatchPlace)], scratch: FilePath) async throws

    /// Copies files of the folder into a directory of this machine, in subdirectories as they are there.
    ///
    /// - Parameters:
    ///   - places: the files; of those that are not there nothing comes.
    ///   - directory: an empty directory.
    ///   - scratch: a directory for what this machine needs meanwhile.
    /// - Throws: `RemoteError`; some files may have come then, and parts of others.
    func download(_ places: [BatchPlace], to directory: FilePath, scratch: FilePath) async throws

    /// Removes files, those that are there.
    ///
    /// - Throws: `RemoteError`; some files may be gone then.
    func delete(_ places: [BatchPlace], scratch: FilePath) async throws
}

/// The place of a file in a remote folder.
public struct BatchPlace: Hashable, Sendable {
    /// The names of the subfolders on the way to it.
    public var folders: [String]
    public var name: String

    public init(_ folders: [String], _ name: String) {
        self.folders = folders
        self.name = name
    }

    /// The way to it from the remote folder, with slashes.
    public var path: String { (folders + [name]).joined(separator: "/") }
}
