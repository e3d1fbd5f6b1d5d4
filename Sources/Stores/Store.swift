public import Files
public import SystemPackage

/// A SQLite database in a stores directory, with its `-wal`, `-shm` and `-journal` beside it.
public struct Store: Sendable, Hashable {
    /// The store's path below the stores directory.
    public let path: RelativePath
    /// The stores directory.
    public let directory: FilePath
    /// The identity of the file; two paths that are links to one file have one identity.
    public let identity: FileInfo.Identity
    /// The database outside the stores directory that the path links to; `nil` if the path is no link.
    public let target: FilePath?

    public init(
        path: RelativePath,
        directory: FilePath,
        identity: FileInfo.Identity,
        target: FilePath? = nil
    ) {
        self.path = path
        self.directory = directory
        self.identity = identity
        self.target = target
    }

    /// The suffixes that SQLite appends to a database's name for the files beside it.
    private static let sidecarSuffixes = ["-wal", "-shm", "-journal"]

    /// The database file.
    public var location: FilePath { target ?? path.below(directory) }

    /// The store's path, and those of all files that SQLite may keep beside it.
    public var files: [RelativePath] { [path] + Self.paths(beside: path) }

    /// Returns the paths of all files that SQLite may keep beside a database.
    public static func paths(beside path: RelativePath) -> [RelativePath] {
        sidecarSuffixes.map { path.sibling(path.name.appending($0)) }
    }

    /// Returns the path of the database that a file beside it belongs to, by the file's name; `nil` if the name has
    /// none of SQLite's suffixes.
    public static func database(ofFileBeside path: RelativePath) -> RelativePath? {
        let bytes = path.bytes
        for suffix in sidecarSuffixes
        where bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
            return try? RelativePath(validating: bytes.dropLast(suffix.utf8.count))
        }
        return nil
    }

    /// Returns the path of the database that a log or journal belongs to, by its name; `nil` for another name.
    static func logOwner(of path: RelativePath) -> RelativePath? {
        path.bytes.suffix(4).elementsEqual("-shm".utf8) ? nil : database(ofFileBeside: path)
    }

    /// Returns whether the content of a file beside a database is SQLite's own.
    ///
    /// - Parameters:
    ///   - start: the file's first eight bytes, or all bytes of a shorter file.
    ///   - size: the file's length in bytes.
    ///   - path: the file's path, with one of SQLite's suffixes.
    /// - Returns: `true` if it is.
    public static func isSidecar(_ start: [UInt8], size: Int64, at path: RelativePath) -> Bool {
        sidecarSuffixes.first { path.bytes.suffix($0.utf8.count).elementsEqual($0.utf8) }
            .map { isSidecar(start, size: size, $0) } ?? false
    }

    /// Returns whether the content of a file beside a database is SQLite's own.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - path: the file's path, with one of SQLite's suffixes.
    /// - Returns: `true` if it is.
    /// - Throws: any error of the source.
    public static func isSidecar(_ source: any ByteSource, at path: RelativePath) throws -> Bool {
        let size = try source.size
        return isSidecar(
            try source.readExactly(count: Int(min(size, 8)), at: 0),
            size: size,
            at: path
        )
    }

    /// Returns whether an entry beside a file may be SQLite's own, such as a link or an unreadable file.
    ///
    /// - Parameters:
    ///   - path: the entry's path.
    ///   - directory: the directory that contains it.
    /// - Returns: `true` if it is.
    public static func mayBeSidecar(at path: RelativePath, in directory: Directory) -> Bool {
        guard let info = try? directory.info(path.name) else { return false }
        switch info.kind {
        case .link:
            // SQLite follows a link, and creates its target if that is missing.
            guard let file = try? File.open(directory.path(of: path.name)) else { return true }
            return (try? isSidecar(file, at: path)) ?? true
        case .file: return (try? isSidecar(directory.file(path.name), at: path)) ?? true
        case .directory, .special: return false
        }
    }

    private static func isSidecar(_ start: [UInt8], size: Int64, _ suffix: String) -> Bool {
        switch suffix {
        case "-wal":
            // The first bytes identify big- or little-endian checksums (https://www.sqlite.org/fileformat2.html,
            // 4.1).
            size == 0 || start.starts(with: [0x37, 0x7F, 0x06, 0x82])
                || start.starts(with: [0x37, 0x7F, 0x06, 0x83])
        case "-shm":
            // A file in use has whole blocks of 32 KiB; one that nobody has open has three bytes.
            size <= 3 || size % 32_768 == 0
        default:
            // A journal begins with its magic, or with zeros once its transaction was committed.
            size == 0 || start == [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
                || start.allSatisfy { $0 == 0 }
        }
    }

    /// Returns the path of a file that SQLite may keep beside the store, by the suffix of its name.
    public func sidecar(_ suffix: String) -> FilePath {
        guard let target, let name = target.fileName else {
            return path.sibling(path.name.appending(suffix)).below(directory)
        }
        return RelativePath(name: name.appending(suffix)).below(target.removingLastComponent())
    }

    /// The directory of Core Data's external data: `.NAME_SUPPORT/_EXTERNAL_DATA`.
    public var externalDataDirectory: RelativePath { Self.externalDataDirectory(of: path) }

    /// The parent of that directory, named after the store without its last extension.
    public var supportDirectory: RelativePath { Self.supportDirectory(of: path) }

    /// Returns the directory of the external data of the store at a path, in a stores directory or in a backup.
    public static func externalDataDirectory(of path: RelativePath) -> RelativePath {
        supportDirectory(of: path).appending("_EXTERNAL_DATA")
    }

    /// Returns the parent of the external data directory of the store at a path.
    public static func supportDirectory(of path: RelativePath) -> RelativePath {
        let bytes = path.name.bytes
        // A dot at the very beginning hides a file, and begins no extension.
        let end =
            bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.count
        let name = FileName(".").appending(bytes[..<end]).appending("_SUPPORT")
        return path.sibling(name)
    }
}
