internal import Files
internal import Foundation
public import SystemPackage

/// A folder on anything that rclone reaches (https://rclone.org/docs/), through the `rclone` command.
///
/// A file is uploaded under a hidden name and then renamed, since some clouds show a file before it is complete.
public struct RcloneFolder: RemoteFolder {
    let root: String
    /// The names of the subfolders from the root.
    let steps: [String]
    let rclone: Rclone
    let memory: RcloneMemory

    /// rclone's name of the folder: `remote:path`.
    ///
    /// It may contain secrets, and is passed only to rclone.
    var place: String { steps.reduce(root, Self.appending) }
    public var description: String {
        RemoteAddress.rclone(steps.reduce(memory.mask.shown, Self.appending)).text
    }

    /// Creates a folder from rclone's name of it: `dropbox:Apps/Grocery Dude`.
    public init(_ remote: String, through rclone: Rclone = Rclone()) {
        let machine = UploadClaim.machine(rclone.machine, at: remote)
        self.init(remote, [], rclone, RcloneMemory(machine: machine, mask: RcloneMask(remote)))
    }

    private init(_ root: String, _ steps: [String], _ rclone: Rclone, _ memory: RcloneMemory) {
        self.root = root
        self.steps = steps
        self.rclone = rclone
        self.memory = memory
    }

    public var service: (any RemoteService)? { self }
    public var batches: (any BatchFolder)? { self }
    public var streams: (any StreamingFolder)? { self }
    public var hashes: (any HashingFolder)? { self }

    public func subfolder(_ name: String) -> any RemoteFolder {
        RcloneFolder(root, steps + [name], rclone, memory)
    }

    /// The remote folder that contains this one, or this folder itself.
    var top: RcloneFolder { RcloneFolder(root, [], rclone, memory) }

    public func download(_ name: String, to path: FilePath) async throws {
        guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
        var job = job(
            ["copyto", "--no-traverse"],
            on: [self.path(of: name), path.string],
            of: name
        )
        if steps.isEmpty,
            let size = memory.files?.first(where: { $0.name.exact == name.exact })?.size
        {
            job.transfer = (.download, size)
        }
        do {
            try await removingIfItFails(path) { try await rclone.run(job) }
        } catch let error as RemoteError where !error.isOfConnection {
            guard try await contains(name) else { throw RemoteError.noFile(address, name: name) }
            throw error
        }
        // rclone copies nothing if the file does not exist, and reports success.
        guard try FileInfo.ifPresent(path) != nil else {
            throw RemoteError.noFile(address, name: name)
        }
    }

    public func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        guard !range.isEmpty else { return [] }
        let options = ["--offset", "\(range.lowerBound)", "--count", "\(range.count)"]
        do {
            return try await run(["cat"] + options, on: [path(of: name)], of: name).output
        } catch RemoteError.missing {
            // rclone searches for a directory of that name.
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
            // rclone writes the file under its final name; the newest versions write beside it.
            try? LocalFileSystem().remove(path)
            throw error
        }
    }

    public func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        guard let folder = folder as? RcloneFolder else {
            preconditionFailure("a file moves within one remote folder")
        }
        let target = folder.path(of: newName)
        var job = job(["moveto", "--ignore-existing"], on: [path(of: name), target], of: name)
        job.isWriting = true
        // A remote that cannot rename must copy.
        job.serverBytes = memory.files?.first { $0.name.exact == name.exact }?.size ?? 0
        memory.change()
        do {
            if try await rclone.run(job).counts.renames > 0 { return }
        } catch let error as RemoteError where !error.isOfConnection {
            // rclone's message does not contain the reason.
            let isHere = try await contains(name)
            let isThere = try await folder.contains(newName)
            if isHere, isThere { throw RemoteError.exists(folder.address, name: newName) }
            if !isHere, !isThere { throw RemoteError.noFile(address, name: name) }
            // Only the answer may have been lost.
            if isThere { return }
            throw error
        }
        // rclone reports success if the name is taken, and in a bucket also if the file does not exist.
        guard try await contains(name) else { throw RemoteError.noFile(address, name: name) }
        throw RemoteError.exists(folder.address, name: newName)
    }

    func contains(_ name: String) async throws -> Bool {
        try await listNow().contains { $0.name.exact == name.exact }
    }

    public func delete(_ name: String) async throws {
        memory.change()
        do {
            try await run(["deletefile"], on: [path(of: name)], of: name, isWriting: true)
        } catch RemoteError.noFile {
            return
        } catch let error as RemoteError where !error.isOfConnection {
            // Not every rclone has an exit code for it: 1.60 only reports a failure.
            guard try await contains(name) else { return }
            throw error
        }
    }

    // MARK: - rclone

    func path(of name: String) -> String { Self.appending(place, name) }

    static func appending(_ place: String, _ name: String) -> String {
        place.hasSuffix(":") || place.hasSuffix("/") ? place + name : "\(place)/\(name)"
    }

    /// Returns a run of rclone for this folder.
    func job(
        _ command: [String],
        on operands: [String]? = nil,
        of file: String? = nil
    ) -> Rclone.Job {
        var job = Rclone.Job(command, on: operands ?? [place], of: address)
        job.file = file
        job.mask = memory.mask
        return job
    }

    /// Runs a command of rclone for this folder.
    @discardableResult
    func run(
        _ command: [String],
        on operands: [String]? = nil,
        of file: String? = nil,
        isWriting: Bool = false
    ) async throws -> Rclone.Outcome {
        var job = job(command, on: operands, of: file)
        job.isWriting = isWriting
        return try await rclone.run(job)
    }
}
