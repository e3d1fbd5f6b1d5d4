public import Files
internal import Foundation
public import SystemPackage

/// A directory on this machine, such as a synchronised folder or a mounted disk.
public struct LocalFolder: RemoteFolder {
    private let root: FilePath
    /// The names of the subfolders from the root.
    private let steps: [String]
    private let fileSystem: any FileSystem
    /// Whether new files and subfolders get the root's mode; else they are accessible to this user only.
    private let isShared: Bool

    public var path: FilePath { steps.reduce(root) { $0.appending($1) } }
    public var directory: FilePath? { path }
    public var description: String { printable(path) }

    public func make() async throws { try LocalFileSystem().createDirectories(path) }

    /// Creates a folder on a directory, which need not exist yet.
    public init(_ path: FilePath, fileSystem: any FileSystem = LocalFileSystem()) {
        self.init(path, [], fileSystem, isShared: false)
    }

    private init(
        _ root: FilePath,
        _ steps: [String],
        _ fileSystem: any FileSystem,
        isShared: Bool
    ) {
        self.root = root
        self.steps = steps
        self.fileSystem = fileSystem
        self.isShared = isShared
    }

    public var shared: any RemoteFolder { LocalFolder(root, steps, fileSystem, isShared: true) }

    public func subfolder(_ name: String) -> any RemoteFolder {
        LocalFolder(root, steps + [name], fileSystem, isShared: isShared)
    }

    public func list() async throws -> [RemoteFile] { try await listAll().files }

    public func listAll() async throws -> (files: [RemoteFile], passedOver: [PassedOverFile]) {
        guard let directory = try open() else { return ([], []) }
        var files: [RemoteFile] = []
        var passedOver: [PassedOverFile] = []
        for name in try directory.names() {
            // A name that is not UTF-8 is shown escaped, and its file is read all the same.
            let text = String(validating: name.bytes, as: UTF8.self) ?? name.description
            do {
                let info = try directory.info(name)
                guard info.kind == .file else {
                    let reason = "it is a symbolic link; put the file itself there"
                    if info.kind == .link { passedOver.append(.init(name: text, reason: reason)) }
                    continue
                }
                let file = RemoteFile(
                    name: text,
                    size: info.size,
                    location: RelativePath(name: name).below(path),
                    modified: Date(timeIntervalSince1970: Double(info.modified) / 1e9)
                )
                files.append(file)
            } catch let error as FileError where error.isMissing {
                // It has gone since the names were read.
            } catch {
                passedOver.append(.init(name: text, reason: explain(error)))
            }
        }
        return (files, passedOver)
    }

    @discardableResult
    public func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        try makeSubfolders()
        let target = path.appending(name)
        let size = try FileInfo(of: file).size
        let isInside = file.removingLastComponent() == root
        do {
            if isInside {
                try fileSystem.move(file, to: target)
            } else {
                try copy(file, as: target)
            }
        } catch FileError.exists(target) {
            throw RemoteError.exists(address, name: name)
        } catch let error as FileError where Self.isSame(file, target) {
            // The file has its new name, and can lose neither that nor the old one.
            throw RemoteError.notSynced(address, name: name, error)
        }
        try sync(after: name, path)
        // The two may be on different disks, and the copy's name is on its disk now.
        if !isInside { try fileSystem.remove(file) }
        // The file has also left its old directory.
        if !steps.isEmpty, isInside { try sync(after: name, root) }
        return RemoteFile(name: name, size: size, location: target)
    }

    public func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        guard let folder = folder as? LocalFolder else {
            preconditionFailure("a file moves within one remote folder")
        }
        _ = try open()
        try folder.makeSubfolders()
        let target = folder.path.appending(newName)
        do {
            try fileSystem.move(path.appending(name), to: target)
        } catch FileError.exists(target) {
            throw RemoteError.exists(folder.address, name: newName)
        } catch let error as FileError where error.isMissing {
            throw RemoteError.noFile(address, name: name)
        }
        try sync(after: name, folder.path, path)
    }

    public func download(_ name: String, to path: FilePath) async throws {
        try open(name).copy(to: path, syncing: false)
    }

    public func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        let file = try open(name)
        let wanted = range.clamped(to: 0..<max(0, try file.size))
        return try file.readExactly(count: wanted.count, at: wanted.lowerBound)
    }

    public func delete(_ name: String) async throws {
        _ = try open()
        let target = path.appending(name)
        guard try FileInfo.ifPresent(target) != nil else { return }
        try fileSystem.remove(target)
        try sync(after: name, path)
    }

    // MARK: - Steps

    private func open(_ name: String) throws -> File {
        _ = try open()
        do {
            return try File.open(path.appending(name))
        } catch let error as FileError where error.isMissing {
            throw RemoteError.noFile(address, name: name)
        }
    }

    /// Copies a file from another place under a hidden name first, so that it becomes visible only when it is complete.
    private func copy(_ file: FilePath, as target: FilePath) throws {
        let partial = root.appending(PartialName.make())
        do {
            let copy = try File.open(file).copy(to: partial, syncing: !isShared)
            if isShared {
                try share { try copy.setMode($0 & 0o666) }
                try copy.sync()
            }
            try fileSystem.move(partial, to: target)
        } catch {
            try? fileSystem.remove(partial)
            throw error
        }
    }

    /// Sets a mode by that of the root, which says who shares it; a file system without modes refuses that.
    private func share(_ setMode: (UInt16) throws -> Void) throws {
        do {
            try setMode(Directory.open(root).info().mode)
        } catch FileError.failed(.setAttributes, _, .notPermitted) {
            return
        }
    }

    /// Flushes directories to the disk.
    ///
    /// - Throws: `RemoteError.notSynced`; the change was made all the same.
    private func sync(after name: String, _ directories: FilePath...) throws {
        do {
            for directory in directories { try fileSystem.sync(directory) }
        } catch let error as FileError {
            throw RemoteError.notSynced(address, name: name, error)
        }
    }

    /// Returns whether two paths lead to the same file.
    private static func isSame(_ path: FilePath, _ other: FilePath) -> Bool {
        guard let info = try? FileInfo(of: path) else { return false }
        return info.identity == (try? FileInfo(of: other))?.identity
    }

    /// Creates the missing subfolders of the path.
    ///
    /// - Throws: `RemoteError.notASubfolder` if something else has one of the names.
    private func makeSubfolders() throws {
        var path = root
        while try open() == nil {
            for step in steps {
                let parent = path
                path = path.appending(step)
                guard try FileInfo.ifPresent(path) == nil else { continue }
                do {
                    try fileSystem.createDirectory(path)
                    if isShared { try share { try Directory.open(path).setMode($0 & 0o2777) } }
                } catch FileError.exists(path) {
                    // Another run created it first, or something else has the name.
                }
                try fileSystem.sync(parent)
            }
        }
    }

    /// Opens the directory, without following any symbolic link below the root, since a file behind one is foreign.
    ///
    /// This precedes the operations of `FileSystem`, which take paths. A user who may change the folder could still
    /// create a link in between.
    ///
    /// - Returns: `nil` if a subfolder does not exist.
    /// - Throws: `RemoteError.missing`, `.notAFolder`, `.notASubfolder`.
    private func open() throws -> Directory? {
        var directory: Directory
        do {
            directory = try Directory.open(root)
        } catch let error as FileError where error.isMissing {
            throw RemoteError.missing(printable(root))
        } catch FileError.notA {
            throw RemoteError.notAFolder(printable(root))
        }
        for step in steps {
            do {
                directory = try directory.directory(RelativePath(step).name)
            } catch FileError.failed(_, _, .noSuchFileOrDirectory) {
                return nil
            } catch FileError.failed(_, _, .notDirectory),
                FileError.failed(_, _, .tooManySymbolicLinkLevels)
            {
                throw RemoteError.notASubfolder(printable(directory.path), name: step)
            }
        }
        return directory
    }
}
