internal import Files
internal import Stores
internal import SystemPackage

/// All names, sizes and times of files in a stores directory at one moment, as one number.
///
/// Two equal looks mean that nothing was written in between, also by a process that has ended since.
struct DirectoryLook {
    private var sum: UInt64 = 0
    private var count = 0
    /// The entry that was changed last; `nil` for the directory itself.
    private(set) var newest: RelativePath?
    private var latest: Int64

    /// Looks at a directory.
    ///
    /// - Parameters:
    ///   - directory: the stores directory.
    ///   - part: the part to look at; `nil` for all of it.
    ///   - kept: paths that a restore leaves as they are.
    ///   - exclusions: the rules for such paths, which also hold for what comes to be later.
    /// - Throws: `FileError`.
    init(
        at directory: StoresDirectory,
        of part: RestoredPart?,
        but kept: Set<RelativePath>,
        _ exclusions: Exclusions
    ) throws {
        latest = try FileInfo(of: directory.path).changed
        try Directory.open(directory.path).walk(failed: { _, _ in }) { file in
            if file.path.parent == nil, directory.leavesOut(file.name, file.info) { return .skip }
            if kept.contains(file.path) || exclusions.excludes(file) { return .skip }
            if part?.contains(file.path) ?? true, !file.isMadeByReading { add(file) }
            return .descend
        }
    }

    /// Whether nothing was there.
    var isEmpty: Bool { count == 0 }

    /// Whether nothing was written between two looks.
    func isSame(as other: DirectoryLook) -> Bool { sum == other.sum && count == other.count }

    private mutating func add(_ file: WalkedFile) {
        let info = file.info
        if info.changed >= latest { (newest, latest) = (file.path, info.changed) }
        // What is in a directory is looked at by itself, and one that has only what a restore keeps is none of its own.
        guard info.kind != .directory else { return }
        var hasher = Hasher()
        hasher.combine(file.path)
        hasher.combine(info.identity)
        hasher.combine(info.size)
        hasher.combine(info.modified)
        sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
        count += 1
    }
}

extension WalkedFile {
    /// Whether it is a file that SQLite makes beside a store to read it: an index of the log, or an empty log.
    fileprivate var isMadeByReading: Bool {
        guard info.kind == .file, Store.database(ofFileBeside: path) != nil else { return false }
        return path.description.hasSuffix("-shm") || info.size == 0
    }
}
