internal import Files
internal import SystemPackage

/// The entries that a walk has visited, so that those are found which got another name meanwhile.
///
/// A walk reads the names of a directory once. An entry that is renamed later, into a directory that was read before,
/// would be found under neither name. But a rename changes the time of the directory that it leads into.
struct VisitedEntries {
    /// Hashes of the paths: of a million entries, eight megabytes.
    private var paths: [Int] = []
    /// The hashes, once a directory has changed.
    private var known: Set<Int> = []
    /// The directories, with their times before their names were read; `nil` for the path of the walk's own.
    private var directories: [(path: RelativePath?, modified: Int64)] = []

    /// Adds the directory in which the walk begins, before its names are read.
    mutating func begin(in directory: FilePath) throws {
        directories.append((nil, try FileInfo(of: directory).modified))
    }

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - file: the entry, as it was before the names in it were read.
    ///   - isEntered: whether the walk reads the names in it.
    mutating func add(_ file: WalkedFile, isEntered: Bool) {
        paths.append(file.path.hashValue)
        if isEntered, file.info.kind == .directory {
            directories.append((file.path, file.info.modified))
        }
    }

    /// Returns the directories whose names have changed since they were read, with their times as of now.
    ///
    /// - Parameter root: the directory in which the walk began.
    /// - Returns: their paths; `nil` for the walk's own.
    /// - Throws: `FileError`.
    mutating func takeChanged(below root: FilePath) throws -> [RelativePath?] {
        var changed: [RelativePath?] = []
        for index in directories.indices {
            let path = directories[index].path
            guard let info = try path.map({ try FileInfo.inside(root, $0) }) ?? FileInfo(of: root),
                info.kind == .directory, info.modified != directories[index].modified
            else { continue }
            directories[index].modified = info.modified
            changed.append(path)
        }
        if !changed.isEmpty {
            known.formUnion(paths)
            paths = []
        }
        return changed
    }

    /// Returns whether an entry was visited before directories were last found to have changed.
    func contains(_ path: RelativePath) -> Bool {
        // As long as no directory has changed, no path need be hashed for this.
        !known.isEmpty && known.contains(path.hashValue)
    }
}
