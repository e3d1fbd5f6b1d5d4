/// A file or directory that a walk found.
public struct WalkedFile {
    /// The path below the walk's directory.
    public let path: RelativePath
    /// The open directory that holds it.
    public let directory: Directory
    public let info: FileInfo

    public init(path: RelativePath, directory: Directory, info: FileInfo) {
        self.path = path
        self.directory = directory
        self.info = info
    }

    /// The last component of its path.
    public var name: FileName { path.name }
}

/// The next step of a walk after a name was visited.
public enum WalkChoice {
    /// Enter it if it is a directory.
    case descend
    /// Skip its content.
    case skip
}

extension Directory {
    /// Calls `visit` for everything below, parents before children, names in the order of their bytes.
    ///
    /// Files that vanish meanwhile are skipped. Files that cannot be read are passed to `failed`, and the walk
    /// continues unless that throws.
    public func walk(
        failed: (RelativePath, any Error) throws -> Void,
        visit: (WalkedFile) throws -> WalkChoice
    ) throws {
        // The caller handles errors of the directory itself.
        try walk(names(), below: nil, failed: failed, visit: visit)
    }

    private func walk(
        _ names: [FileName],
        below parent: RelativePath?,
        failed: (RelativePath, any Error) throws -> Void,
        visit: (WalkedFile) throws -> WalkChoice
    ) throws {
        for name in names {
            let path = parent?.appending(name) ?? RelativePath(name: name)
            func read<Value>(_ body: () throws -> Value) throws -> Value? {
                do {
                    return try body()
                } catch let error as FileError where error.isMissing {
                    return nil
                } catch {
                    try failed(path, error)
                    return nil
                }
            }
            guard let info = try read({ try self.info(name) }) else { continue }
            let choice = try visit(WalkedFile(path: path, directory: self, info: info))
            guard info.kind == .directory, case .descend = choice,
                let child = try read({ try directory(name) }),
                let names = try read({ try child.names() })
            else { continue }
            try child.walk(names, below: path, failed: failed, visit: visit)
        }
    }
}
