public import SystemPackage

/// A folder for archives.
///
/// Its description is its address in the form of `--remote`.
///
/// Every implementation keeps these promises, and one contract suite tests all implementations:
/// - A file becomes visible under its name only when it is complete.
/// - An uploaded file can be listed and read at once.
/// - A file is never overwritten.
/// - Deleting a missing file succeeds.
public protocol RemoteFolder: Sendable, CustomStringConvertible {
    /// Returns all files in any order, including hidden ones; none for a missing subfolder.
    ///
    /// - Throws: `RemoteError.missing` if the remote folder itself does not exist.
    func list() async throws -> [RemoteFile]

    /// Returns all files as `list` does, and what else may have been meant as one.
    ///
    /// - Throws: see `list`.
    func listAll() async throws -> (files: [RemoteFile], passedOver: [PassedOverFile])

    /// Moves a file of this machine into the folder.
    ///
    /// The file's content must be synced to the disk before. When this returns, the new name is synced too.
    /// - Returns: the file as it is listed.
    /// - Throws: `RemoteError.exists` if the name is taken; `.notSynced` if the file was uploaded but may not be synced
    ///   to the disk.
    @discardableResult
    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile

    /// Downloads a file of the folder to a new file of this machine.
    ///
    /// - Throws: `RemoteError.noFile` if the file does not exist.
    func download(_ name: String, to path: FilePath) async throws

    /// Reads a range of a file; returns fewer bytes if the file ends earlier.
    ///
    /// Some servers do not support ranges, and send the beginning of the file without an error. The caller must be able
    /// to recognize wrong bytes.
    /// - Throws: `RemoteError.noFile` if the file does not exist.
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8]

    /// Moves a file to another name or folder without transferring it to this machine.
    ///
    /// When this returns, the new name is synced to the disk.
    /// - Parameters:
    ///   - name: the file's present name.
    ///   - folder: this folder, or another one at any depth of the same remote folder.
    ///   - newName: the file's new name.
    /// - Throws: `RemoteError.noFile` if the file does not exist, `.exists` if the new name is taken, `.notSynced` if
    ///   it was moved but the move may not be synced to the disk.
    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws

    /// Removes a file if it exists.
    ///
    /// - Throws: `RemoteError.notSynced` if the file was removed but the removal may not be synced to the disk.
    func delete(_ name: String) async throws

    /// Returns a unique hidden name for a file that gets its own name later.
    ///
    /// If it never does, `removeLeftovers` recognizes its machine.
    func makePartialName() -> String

    /// Removes the leftovers of this machine's killed uploads, and those of other machines after a day.
    ///
    /// - Returns: the names of this machine's leftovers.
    func removeLeftovers() async throws -> [String]

    /// Returns a folder in this one, which need not exist before a file is put into it.
    ///
    /// On this machine it must be a directory, not a link to another place.
    func subfolder(_ name: String) -> any RemoteFolder

    /// Creates the folder and its parents if they do not exist.
    ///
    /// - Throws: `RemoteError`, `FileError`.
    func make() async throws

    /// The same folder for files of several users: new ones can be read, and removed, by all who can do so with the
    /// folder's own files.
    var shared: any RemoteFolder { get }

    // MARK: - What not every remote has

    /// The folder's directory on this machine; `nil` if it is elsewhere.
    var directory: FilePath? { get }

    /// The service behind the folder; `nil` on this machine.
    var service: (any RemoteService)? { get }

    /// The folder's transfers of many files at once; `nil` if they have no advantage.
    var batches: (any BatchFolder)? { get }

    /// The folder's uploads of files that are being produced; `nil` if it has none.
    var streams: (any StreamingFolder)? { get }

    /// The folder's hashes of files; `nil` if it has none.
    var hashes: (any HashingFolder)? { get }
}

/// The program and the account through which a folder elsewhere is reached.
public protocol RemoteService: Sendable {
    /// The name of the remote in the program's configuration; `nil` for one that the address itself describes.
    var remoteName: String? { get }

    /// Returns the directories of this machine that the folder is in, although a program reaches it.
    ///
    /// - Throws: `CancellationError`.
    func directories() async throws -> [FilePath]

    /// Returns the program's version.
    ///
    /// - Throws: `RemoteError.noRclone`, `.rclone`.
    func version() async throws -> String

    /// Returns the owner: the name or the address of the account; `nil` if the remote does not report it.
    ///
    /// - Throws: `CancellationError`.
    func account() async throws -> String?

    /// Returns the space of the remote; `nil` if the remote does not report it.
    ///
    /// - Throws: `CancellationError`.
    func space() async throws -> RemoteSpace?
}

extension RemoteFolder {
    public func listAll() async throws -> (files: [RemoteFile], passedOver: [PassedOverFile]) {
        (try await list(), [])
    }

    /// Returns whether a file really exists, by reading one byte of it.
    ///
    /// Some clouds list changes late. An empty file does not count.
    public func has(_ name: String) async throws -> Bool {
        do {
            return try await !download(name, range: 0..<1).isEmpty
        } catch RemoteError.noFile {
            return false
        }
    }

    public func make() async throws {}
    public var shared: any RemoteFolder { self }
    public var directory: FilePath? { nil }
    public var service: (any RemoteService)? { nil }
    public var batches: (any BatchFolder)? { nil }
    public var streams: (any StreamingFolder)? { nil }
    public var hashes: (any HashingFolder)? { nil }

    /// The folder's name in messages and in the catalog.
    public var address: String { description }

    public func makePartialName() -> String { PartialName.make() }

    /// Removes nothing: the run that locks the directory removes the leftovers in it.
    public func removeLeftovers() async throws -> [String] { [] }
}

/// The names of files that are being written.
///
/// They are hidden, and never listed as backups.
public enum PartialName {
    public static let prefix = ".grocerydude-"
    static let suffix = ".partial"

    /// Returns a unique name.
    public static func make() -> String {
        "\(prefix)\(UInt64.random(in: 0 ... .max))\(suffix)"
    }

    /// Returns whether a name has this form.
    public static func matches(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
    }
}

/// An event in the communication with a remote.
public enum RemoteEvent: Sendable, Equatable {
    /// The direction of a transfer.
    public enum Direction: Sendable {
        case upload, download
    }

    /// The transfer of a file begins; the payload has its size in bytes.
    case began(Direction, total: Int64)
    /// The number of bytes since the last event; 0 for mere activity.
    case advanced(Int64)
    /// The remote with this address has been silent for a while.
    case waiting(for: String, since: Duration)
}

/// The space of a remote in bytes, as far as the remote reports it.
public struct RemoteSpace: Sendable, Equatable, Codable {
    public var total: Int64?
    public var used: Int64?
    public var free: Int64?

    public init(total: Int64? = nil, used: Int64? = nil, free: Int64? = nil) {
        self.total = total
        self.used = used
        self.free = free
    }
}
