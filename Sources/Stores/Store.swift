public import Files
public import SystemPackage

/// A SQLite database in a stores directory, with its `-wal`, `-shm` and `-journal` beside it.
public struct Store: Sendable, Hashable {
    /// Its path below the stores directory.
    public let path: RelativePath
    /// The stores directory.
    public let directory: FilePath
    /// The file itself; two paths that are links to one file have one identity.
    public let identity: FileInfo.Identity

    public init(path: RelativePath, directory: FilePath, identity: FileInfo.Identity) {
        self.path = path
        self.directory = directory
        self.identity = identity
    }

    /// The suffixes that SQLite gives a database's name for the files beside it.
    private static let sidecarSuffixes = ["-wal", "-shm", "-journal"]

    /// The database file.
    public var location: FilePath { path.below(directory) }

    /// Its path, and those of all files that SQLite may keep beside it.
    public var files: [RelativePath] { [path] + Self.paths(beside: path) }

    /// Returns the paths of all files that SQLite may keep beside a database.
    public static func paths(beside path: RelativePath) -> [RelativePath] {
        sidecarSuffixes.map { path.sibling(path.name.appending($0)) }
    }

    /// Returns the path of the database beside which SQLite would look for this file; `nil` if its name is
    /// no such name.
    public static func database(ofFileBeside path: RelativePath) -> RelativePath? {
        let bytes = path.bytes
        for suffix in sidecarSuffixes
        where bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
            return try? RelativePath(validating: bytes.dropLast(suffix.utf8.count))
        }
        return nil
    }

    /// Returns whether a file beside a database is SQLite's own, by its content.
    ///
    /// - Parameters:
    ///   - start: its first eight bytes, or all of a shorter one.
    ///   - size: its bytes.
    ///   - path: its path, which ends as those of such files do.
    /// - Returns: whether it is.
    public static func isSidecar(_ start: [UInt8], size: Int64, at path: RelativePath) -> Bool {
        sidecarSuffixes.first { path.bytes.suffix($0.utf8.count).elementsEqual($0.utf8) }
            .map { isSidecar(start, size: size, $0) } ?? false
    }

    /// Returns whether a file beside a database is SQLite's own, by its content.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - path: its path, which ends as those of such files do.
    /// - Returns: whether it is.
    /// - Throws: what the source throws.
    public static func isSidecar(_ source: any ByteSource, at path: RelativePath) throws -> Bool {
        let size = try source.size
        return isSidecar(
            try source.readExactly(count: Int(min(size, 8)), at: 0),
            size: size,
            at: path
        )
    }

    private static func isSidecar(_ start: [UInt8], size: Int64, _ suffix: String) -> Bool {
        switch suffix {
        case "-wal":
            // Big- or little-endian checksums (https://www.sqlite.org/fileformat2.html, 4.1).
            size == 0 || start.starts(with: [0x37, 0x7F, 0x06, 0x82])
                || start.starts(with: [0x37, 0x7F, 0x06, 0x83])
        case "-shm":
            // Whole blocks of 32 KiB, or the three bytes of one that nobody has open.
            size <= 3 || size % 32_768 == 0
        default:
            // The magic of a journal, or the zeros of one that was committed.
            size == 0 || start == [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
                || start.allSatisfy { $0 == 0 }
        }
    }

    func sidecar(_ suffix: String) -> FilePath {
        path.sibling(path.name.appending(suffix)).below(directory)
    }

    /// The directory of Core Data's external data: `.NAME_SUPPORT/_EXTERNAL_DATA`.
    public var externalDataDirectory: RelativePath { Self.externalDataDirectory(of: path) }

    /// The directory around it, named after the store without its last extension.
    public var supportDirectory: RelativePath { Self.supportDirectory(of: path) }

    /// Returns the directory of the external data of the store at a path, be it there or in a backup.
    public static func externalDataDirectory(of path: RelativePath) -> RelativePath {
        supportDirectory(of: path).appending("_EXTERNAL_DATA")
    }

    /// Returns the directory around the external data of the store at a path.
    public static func supportDirectory(of path: RelativePath) -> RelativePath {
        let bytes = path.name.bytes
        // A dot at the very beginning hides a file; it begins no extension.
        let end =
            bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.count
        let name = FileName(".").appending(bytes[..<end]).appending("_SUPPORT")
        return path.sibling(name)
    }
}
