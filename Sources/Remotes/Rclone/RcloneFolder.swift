internal import Files
internal import Foundation
public import SystemPackage

/// Anything that rclone reaches (https://rclone.org/docs/), through the `rclone` command.
///
/// A file is uploaded under a hidden name and then renamed, since not every cloud shows a file
/// only once it is whole.
public struct RcloneFolder: RemoteFolder {
    let root: String
    /// The names of the subfolders on the way from the root.
    let steps: [String]
    let rclone: Rclone
    let memory: RcloneMemory

    /// rclone's name of the folder: `remote:path`.
    var place: String { steps.reduce(root, Self.appending) }
    public var description: String { Self.scheme + place }

    /// The beginning of an address that is meant for rclone.
    public static let scheme = "rclone:"

    /// Names a folder, as rclone takes it: `dropbox:Apps/Grocery Dude`.
    public init(_ remote: String, through rclone: Rclone = Rclone()) {
        let machine = UploadClaim.machine(rclone.machine, at: remote)
        self.init(remote, [], rclone, RcloneMemory(machine: machine))
    }

    private init(_ root: String, _ steps: [String], _ rclone: Rclone, _ memory: RcloneMemory) {
        self.root = root
        self.steps = steps
        self.rclone = rclone
        self.memory = memory
    }

    public func subfolder(_ name: String) -> any RemoteFolder {
        RcloneFolder(root, steps + [name], rclone, memory)
    }

    /// The remote folder that this one is in, or this one.
    var top: RcloneFolder { RcloneFolder(root, [], rclone, memory) }

    public func download(_ name: String, to path: FilePath) async throws {
        guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
        var job = job(["copyto", "--no-traverse", self.path(of: name), path.string], of: name)
        if steps.isEmpty, let size = memory.files?.first(where: { $0.name == name })?.size {
            job.transfer = (.download, size)
        }
        do {
            try await removingIfItFails(path) { try await rclone.run(job) }
        } catch let error as RemoteError where !error.isOfConnection {
            guard try await contains(name) else { throw RemoteError.noFile(address, name: name) }
            throw error
        }
        // rclone makes nothing of a file that is not there, and is content.
        guard try FileInfo.ifPresent(path) != nil else {
            throw RemoteError.noFile(address, name: name)
        }
    }

    private func removingIfItFails<Result>(
        _ path: FilePath,
        _ body: () async throws -> Result
    ) async throws {
        do {
            _ = try await body()
        } catch {
            // rclone writes it where it is to be; the newest ones write beside it.
            try? LocalFileSystem().remove(path)
            throw error
        }
    }

    public func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        guard let folder = folder as? RcloneFolder else {
            preconditionFailure("a file moves within one remote folder")
        }
        let target = folder.path(of: newName)
        var job = job(["moveto", "--ignore-existing", path(of: name), target], of: name)
        job.isWriting = true
        // A remote that cannot rename has to copy.
        job.serverBytes = memory.files?.first { $0.name == name }?.size ?? 0
        memory.change()
        do {
            if try await rclone.run(job).counts.renames > 0 { return }
        } catch let error as RemoteError where !error.isOfConnection {
            // Its own words do not tell why.
            let isHere = try await contains(name)
            let isThere = try await folder.contains(newName)
            if isHere, isThere { throw RemoteError.exists(folder.address, name: newName) }
            if !isHere, !isThere { throw RemoteError.noFile(address, name: name) }
            // The answer alone may have been lost.
            if isThere { return }
            throw error
        }
        // rclone is content if the name is taken, and in a bucket also if there is no such file.
        guard try await contains(name) else { throw RemoteError.noFile(address, name: name) }
        throw RemoteError.exists(folder.address, name: newName)
    }

    func contains(_ name: String) async throws -> Bool {
        try await listNow().contains { $0.name == name }
    }

    public func delete(_ name: String) async throws {
        memory.change()
        do {
            try await run(["deletefile", path(of: name)], of: name, isWriting: true)
        } catch RemoteError.noFile {
            return
        } catch let error as RemoteError where !error.isOfConnection {
            // Not every rclone has an exit code for it: 1.60 says only that it failed.
            guard try await contains(name) else { return }
            throw error
        }
    }

    // MARK: - rclone

    func path(of name: String) -> String { Self.appending(place, name) }

    static func appending(_ place: String, _ name: String) -> String {
        place.hasSuffix(":") || place.hasSuffix("/") ? place + name : "\(place)/\(name)"
    }

    /// Returns a run of rclone that is about this folder.
    func job(_ arguments: [String], of file: String? = nil) -> Rclone.Job {
        var job = Rclone.Job(arguments, of: address)
        job.file = file
        return job
    }

    /// Runs a command of rclone's that is about this folder.
    @discardableResult
    func run(
        _ arguments: [String],
        of file: String? = nil,
        isWriting: Bool = false
    ) async throws -> Rclone.Outcome {
        var job = job(arguments, of: file)
        job.isWriting = isWriting
        return try await rclone.run(job)
    }
}
