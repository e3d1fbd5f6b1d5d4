public import SystemPackage

/// A folder that archives live in; its description is its address, as `--remote` takes it.
///
/// Every implementation keeps these promises, and one contract suite holds all of them to it:
/// - A file becomes visible under its name whole or not at all.
/// - A file that was uploaded can be listed and read at once.
/// - A file is never overwritten.
/// - Deleting a missing file succeeds.
public protocol RemoteFolder: Sendable, CustomStringConvertible {
    /// Returns all files, hidden ones too, in no order; none for a subfolder that is not there.
    ///
    /// - Throws: `RemoteError.missing` if the remote folder itself is not there.
    func list() async throws -> [RemoteFile]

    /// Puts a file of this machine into the folder, and takes it away from its old place.
    ///
    /// The file's content must be on the disk already. When this returns, so is its new name.
    /// - Returns: the file, as it is listed.
    /// - Throws: `RemoteError.exists` if the name is taken; `.notSynced` if the file is there, but
    ///   may not be on the disk.
    @discardableResult
    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile

    /// Copies a file of the folder to a new file of this machine.
    ///
    /// - Throws: `RemoteError.noFile` if it is not there.
    func download(_ name: String, to path: FilePath) async throws

    /// Reads a range of a file; of one that ends earlier, as much of it as there is.
    ///
    /// Some servers know no ranges and send the beginning of the file instead, and nothing tells: the
    /// caller must be able to see that bytes are not those that it asked for.
    /// - Throws: `RemoteError.noFile` if it is not there.
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8]

    /// Moves a file to another name or folder without bringing it to this machine.
    ///
    /// When this returns, the new name is on the disk.
    /// - Parameters:
    ///   - name: the file's name here.
    ///   - folder: this folder, or another one at any depth of the same remote folder.
    ///   - newName: the file's name there.
    /// - Throws: `RemoteError.noFile` if it is not there, `.exists` if the new name is taken,
    ///   `.notSynced` if it was moved, but may not be on the disk.
    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws

    /// Removes a file, if it is there.
    ///
    /// - Throws: `RemoteError.notSynced` if it was removed, but that may not be on the disk.
    func delete(_ name: String) async throws

    /// Returns a hidden name that nobody else has, for a file that gets its own name later.
    ///
    /// If it never does, `removeLeftovers` knows whose it is.
    func makePartialName() -> String

    /// Removes what killed uploads of this machine left, and after a day those of others.
    ///
    /// - Returns: the names of what this machine had left.
    func removeLeftovers() async throws -> [String]

    /// Returns a folder in this one, which need not be there before something is put into it.
    ///
    /// On this machine it must be a directory, not a link that leads elsewhere.
    func subfolder(_ name: String) -> any RemoteFolder
}

extension RemoteFolder {
    /// The folder's name in messages, and in the memory of backups.
    public var address: String { description }

    public func makePartialName() -> String { PartialName.make() }

    /// Removes nothing: whoever locks the directory removes what is left in it.
    public func removeLeftovers() async throws -> [String] { [] }
}
