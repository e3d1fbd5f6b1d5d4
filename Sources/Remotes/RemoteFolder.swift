public import SystemPackage

/// Where archives live.
///
/// A file's name is that of a file in the folder, or `SUBFOLDER/NAME`: one step down, no more. A
/// subfolder need not be there before something is put into it. On this machine it has to be a
/// directory of the folder's own, and never a link that leads elsewhere.
///
/// What every implementation promises, and one contract suite holds all of them to:
/// - A file becomes visible under its name whole or not at all.
/// - A file that was uploaded can be listed and read at once.
/// - A file is never overwritten.
/// - Deleting a missing file succeeds.
public protocol RemoteFolder: Sendable {
    /// What to call the folder in messages, and what `--remote` takes to reach it.
    var address: String { get }

    /// A directory on this machine in which a file that is to be uploaded is best made, so that
    /// uploading costs no second copy where that is possible. Runs that use the folder lock it.
    var staging: FilePath { get }

    /// All files, hidden ones too, in no order.
    ///
    /// - Parameter subfolder: where to look; `nil` for the folder itself.
    /// - Returns: the files with their names there; none where there is no such subfolder.
    /// - Throws: `RemoteError.missing` where there is no such folder.
    func list(in subfolder: String?) async throws -> [RemoteFile]

    /// Where a file of the folder can be read on this machine without downloading it; `nil` where it cannot.
    func location(of name: String) -> FilePath?

    /// Puts a file of this machine into the folder, and takes it away from where it was.
    ///
    /// The file's content must be on the disk already. When this returns, so is its new name.
    /// - Throws: `RemoteError.exists` where the name is taken; `.notSynced` where the file is there, but
    ///   may not be on the disk.
    func upload(_ file: FilePath, as name: String) async throws

    /// Copies a file of the folder to a new file of this machine.
    ///
    /// - Throws: `RemoteError.noFile` where it is not there.
    func download(_ name: String, to path: FilePath) async throws

    /// Gives a file another name, in the folder or a subfolder, without bringing it to this machine.
    ///
    /// When this returns, the new name is on the disk.
    /// - Throws: `RemoteError.noFile` where it is not there, `.exists` where the new name is taken,
    ///   `.notSynced` where it was moved.
    func move(_ name: String, to newName: String) async throws

    /// Removes a file, if it is there.
    ///
    /// - Throws: `RemoteError.notSynced` where it was removed.
    func delete(_ name: String) async throws
}

/// A file in a remote folder.
public struct RemoteFile: Sendable, Equatable {
    public var name: String
    /// Bytes.
    public var size: Int64
    /// Where it can be read on this machine without downloading it, if it can.
    public var location: FilePath?

    public init(name: String, size: Int64, location: FilePath? = nil) {
        self.name = name
        self.size = size
        self.location = location
    }
}

extension RemoteFolder {
    public func location(of name: String) -> FilePath? { nil }

    /// All files in the folder itself.
    public func list() async throws -> [RemoteFile] { try await list(in: nil) }

    /// What a file that is being made in the staging directory is called: hidden, and never listed
    /// as a backup.
    public static var partialPrefix: String { ".grocerydude-" }
    public static var partialSuffix: String { ".partial" }

    /// Such a name that nobody else has.
    public static func makePartialName() -> String {
        "\(partialPrefix)\(UInt64.random(in: 0 ... .max))\(partialSuffix)"
    }

    /// Whether a name is one of those.
    public static func isPartialName(_ name: String) -> Bool {
        name.hasPrefix(partialPrefix) && name.hasSuffix(partialSuffix)
    }

    /// The subfolder that a name is in, if it is in one, and what the file is called there.
    static func split(_ name: String) -> (subfolder: String?, last: String) {
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        return (parts.count == 2 ? parts[0] : nil, parts.last ?? "")
    }
}
