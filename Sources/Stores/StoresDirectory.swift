public import Files
public import SystemPackage

/// The directory that is backed up and restored.
public struct StoresDirectory: Sendable {
    /// Where it is, without symbolic links in it.
    public let path: FilePath

    /// What a first look at the directory found.
    public struct Survey: Sendable {
        /// The databases, in the order of their paths.
        public var stores: [Store] = []
        /// How many files, directories and links there are.
        public var fileCount = 0
        /// Bytes in all regular files.
        public var size: Int64 = 0

        /// The paths that belong to stores: their databases, and what SQLite keeps beside them.
        public var storeFiles: Set<RelativePath> = []
    }

    /// Opens the directory.
    ///
    /// - Throws: `FileError` where it is not there or not a directory.
    public init(_ path: FilePath) throws {
        self.path = try path.resolved()
        _ = try Directory.open(self.path)
    }

    /// Walks through the directory, and reads the beginning of every file to tell stores from others.
    ///
    /// - Parameter isCancelled: called now and then; throws to stop.
    /// - Returns: what was found; what cannot be read or opened is no store in it.
    /// - Throws: `FileError` where the directory cannot be listed; what `isCancelled` throws.
    public func survey(isCancelled: () throws -> Void = {}) throws -> Survey {
        var survey = Survey()
        try Directory.open(path).walk(failed: { _, _ in }) { file in
            try isCancelled()
            survey.fileCount += 1
            guard file.info.kind == .file else { return .descend }
            survey.size += file.info.size
            guard file.info.size >= Int64(DatabaseHeader.length), isDatabase(file) else {
                return .descend
            }
            let store = Store(path: file.path, directory: path, identity: file.info.identity)
            survey.stores.append(store)
            survey.storeFiles.insert(file.path)
            for suffix in Store.sidecarSuffixes {
                let name = file.name.appending(suffix)
                survey.storeFiles.insert(
                    file.path.parent?.appending(name) ?? RelativePath(name: name)
                )
            }
            return .descend
        }
        return survey
    }

    /// A file that cannot be read is no store; the backup meets it again, and says so.
    private func isDatabase(_ file: WalkedFile) -> Bool {
        guard let file = try? file.directory.file(file.name) else { return false }
        return (try? DatabaseHeader.read(file)) != nil
    }
}
