public import Files
public import SystemPackage

/// A directory of this machine: a synchronised folder, a mounted disk.
public struct LocalFolder: RemoteFolder {
    /// The directory.
    public let path: FilePath
    private let fileSystem: any FileSystem

    public var address: String { printable(path) }
    public var staging: FilePath { path }

    /// Names a directory, which need not be there yet.
    public init(_ path: FilePath, fileSystem: any FileSystem = LocalFileSystem()) {
        self.path = path
        self.fileSystem = fileSystem
    }

    public func location(of name: String) -> FilePath? { path.appending(name) }

    public func list(in subfolder: String?) async throws -> [RemoteFile] {
        var directory = try open()
        if let subfolder {
            guard let below = try open(subfolder, in: directory) else { return [] }
            directory = below
        }
        let path = directory.path
        return try directory.names().compactMap { name in
            guard let text = String(validating: name.bytes, as: UTF8.self),
                // It may have gone since the names were read.
                let info = try? directory.info(name), info.kind == .file
            else { return nil }
            return RemoteFile(name: text, size: info.size, location: path.appending(text))
        }
    }

    public func upload(_ file: FilePath, as name: String) async throws {
        try makeSubfolder(of: name)
        let target = path.appending(name)
        do {
            if file.removingLastComponent() == path {
                try fileSystem.move(file, to: target)
            } else {
                try copy(file, as: target)
                try fileSystem.remove(file)
            }
        } catch FileError.exists(target) {
            throw RemoteError.exists(address, name: name)
        } catch let error as FileError where Self.isSame(file, target) {
            // It has its name, and could lose neither that nor the one that it had.
            throw notSynced(name, error)
        }
        try sync(after: name, target.removingLastComponent())
    }

    public func move(_ name: String, to newName: String) async throws {
        try checkSubfolder(of: name)
        try makeSubfolder(of: newName)
        let source = path.appending(name)
        let target = path.appending(newName)
        do {
            try fileSystem.move(source, to: target)
        } catch FileError.exists(target) {
            throw RemoteError.exists(address, name: newName)
        } catch let error as FileError where error.isMissing {
            throw RemoteError.noFile(address, name: name)
        }
        try sync(after: name, target.removingLastComponent(), source.removingLastComponent())
    }

    /// Has on the disk what was done in directories.
    ///
    /// - Throws: `RemoteError.notSynced`: it is done all the same.
    private func sync(after name: String, _ directories: FilePath...) throws {
        do {
            for directory in directories { try fileSystem.sync(directory) }
        } catch let error as FileError {
            throw notSynced(name, error)
        }
    }

    private func notSynced(_ name: String, _ error: FileError) -> RemoteError {
        .notSynced(address, name: name, error)
    }

    /// Whether two names are of one file.
    private static func isSame(_ path: FilePath, _ other: FilePath) -> Bool {
        guard let info = try? FileInfo(of: path), let otherInfo = try? FileInfo(of: other) else {
            return false
        }
        return info.identity == otherInfo.identity
    }

    /// Makes the subfolder that a name is in, if it is not there yet.
    ///
    /// - Throws: `RemoteError.notASubfolder` where something else has its name.
    private func makeSubfolder(of name: String) throws {
        guard try !checkSubfolder(of: name), let subfolder = Self.split(name).subfolder else {
            return
        }
        let directory = path.appending(subfolder)
        do {
            try fileSystem.createDirectory(directory)
        } catch FileError.exists(directory) {
            // Another run was faster, or somebody who put something else there.
            try checkSubfolder(of: name)
        }
        try fileSystem.sync(path)
    }

    /// Throws where the subfolder that a name is in is a link that leads out of the folder, or
    /// anything else but a directory: what is done there would be done to files that are not ours.
    ///
    /// The verbs of `FileSystem` take paths, so this comes before them: who may change the folder
    /// itself can still put a link there in between.
    ///
    /// - Returns: whether it is there; the folder itself is.
    @discardableResult
    private func checkSubfolder(of name: String) throws -> Bool {
        let directory = try open()
        guard let subfolder = Self.split(name).subfolder else { return true }
        return try open(subfolder, in: directory) != nil
    }

    /// Brings a file from elsewhere under a hidden name first, so that it is seen only when it is whole.
    private func copy(_ file: FilePath, as target: FilePath) throws {
        let partial = path.appending(
            Self.makePartialName()
        )
        do {
            try File.open(file).copy(to: partial, syncing: true)
            try fileSystem.move(partial, to: target)
        } catch {
            try? fileSystem.remove(partial)
            throw error
        }
    }

    public func download(_ name: String, to path: FilePath) async throws {
        let source: File
        try checkSubfolder(of: name)
        do {
            source = try File.open(self.path.appending(name))
        } catch let error as FileError where error.isMissing {
            throw RemoteError.noFile(address, name: name)
        }
        try source.copy(to: path, syncing: false)
    }

    public func delete(_ name: String) async throws {
        try checkSubfolder(of: name)
        let target = path.appending(name)
        guard try FileInfo.ifPresent(target) != nil else { return }
        try fileSystem.remove(target)
        try sync(after: name, target.removingLastComponent())
    }

    private func open() throws -> Directory {
        do {
            return try Directory.open(path)
        } catch let error as FileError where error.isMissing {
            throw RemoteError.missing(address)
        } catch FileError.notA {
            throw RemoteError.notAFolder(address)
        }
    }
    /// Opens a subfolder, never through a symbolic link.
    ///
    /// - Returns: the subfolder; `nil` where there is nothing of that name.
    /// - Throws: `RemoteError.notASubfolder` where it is not a directory.
    private func open(_ subfolder: String, in directory: Directory) throws -> Directory? {
        do {
            return try directory.directory(RelativePath(subfolder).name)
        } catch FileError.failed(_, _, .noSuchFileOrDirectory) {
            return nil
        } catch FileError.failed(_, _, .notDirectory),
            FileError.failed(_, _, .tooManySymbolicLinkLevels)
        {
            throw RemoteError.notASubfolder(address, name: subfolder)
        }
    }
}
