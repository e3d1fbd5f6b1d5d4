/// Something that a walk came upon.
public struct WalkedFile {
    /// The path below the directory that is walked.
    public let path: RelativePath
    /// The open directory that holds it.
    public let directory: Directory
    /// The system's record of it.
    public let info: FileInfo

    public init(path: RelativePath, directory: Directory, info: FileInfo) {
        self.path = path
        self.directory = directory
        self.info = info
    }

    /// The last component of its path.
    public var name: FileName { path.name }
}

/// The next step of a walk, after a directory was seen.
public enum WalkChoice {
    /// Go on, into it, if it is a directory.
    case descend
    /// Pass over what is in it.
    case skip
}

extension Directory {
    /// Calls `visit` for everything below, parents before children, names in the order of their bytes.
    ///
    /// A file that vanishes meanwhile is passed over. One that cannot be read is given to `failed`, and the
    /// walk goes on unless that throws.
    public func walk(
        failed: (RelativePath, any Error) throws -> Void,
        visit: (WalkedFile) throws -> WalkChoice
    ) throws {
        try walk(below: nil, failed: failed, visit: visit)
    }

    private func walk(
        below parent: RelativePath?,
        failed: (RelativePath, any Error) throws -> Void,
        visit: (WalkedFile) throws -> WalkChoice
    ) throws {
        let names: [FileName]
        do {
            names = try self.names()
        } catch {
            // The directory that the caller asked for is the caller's to explain.
            guard let parent else { throw error }
            return try failed(parent, error)
        }
        for name in names {
            let path = parent?.appending(name) ?? RelativePath(name: name)
            let info: FileInfo
            do {
                info = try self.info(name)
            } catch let error as FileError where error.isMissing {
                continue
            } catch {
                try failed(path, error)
                continue
            }
            let choice = try visit(WalkedFile(path: path, directory: self, info: info))
            guard info.kind == .directory, case .descend = choice else { continue }
            try descend(into: name, path: path, failed: failed, visit: visit)
        }
    }

    private func descend(
        into name: FileName,
        path: RelativePath,
        failed: (RelativePath, any Error) throws -> Void,
        visit: (WalkedFile) throws -> WalkChoice
    ) throws {
        let child: Directory
        do {
            child = try directory(name)
        } catch let error as FileError where error.isMissing {
            return
        } catch {
            return try failed(path, error)
        }
        try child.walk(below: path, failed: failed, visit: visit)
    }
}
