internal import Files
internal import Foundation
public import SystemPackage

/// Anything that rclone reaches (https://rclone.org/docs/), through the `rclone` command.
///
/// A file is uploaded under a hidden name and then renamed, since not every cloud shows a file
/// only once it is whole.
public struct RcloneFolder: RemoteFolder {
    private let root: String
    /// The names of the subfolders on the way from the root.
    private let steps: [String]
    let rclone: Rclone

    /// rclone's name of the folder: `remote:path`.
    var place: String { steps.reduce(root, Self.appending) }
    public var description: String { Self.scheme + place }

    /// The beginning of an address that is meant for rclone.
    public static let scheme = "rclone:"

    /// Names a folder, as rclone takes it: `dropbox:Apps/Grocery Dude`.
    public init(_ remote: String, through rclone: Rclone = Rclone()) {
        self.init(remote, [], rclone)
    }

    private init(_ root: String, _ steps: [String], _ rclone: Rclone) {
        self.root = root
        self.steps = steps
        self.rclone = rclone
    }

    public func subfolder(_ name: String) -> any RemoteFolder {
        RcloneFolder(root, steps + [name], rclone)
    }

    public func list() async throws -> [RemoteFile] {
        struct Listed: Decodable {
            var Name: String
            var Size: Int64
        }
        do {
            let options = ["--files-only", "--no-modtime", "--no-mimetype"]
            let output = try await run(["lsjson"] + options + [place]).output
            return try JSONDecoder().decode([Listed].self, from: Data(output))
                .map { RemoteFile(name: $0.Name, size: $0.Size) }
        } catch RemoteError.missing where !steps.isEmpty {
            return []
        } catch is DecodingError {
            throw RemoteError.rclone(address, reason: "its list is not what was expected")
        }
    }

    @discardableResult
    public func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        let size = try FileInfo(of: file).size
        let partial = PartialName.make()
        let folder = RcloneFolder(root, [], rclone)
        var uploaded = RemoteFile(name: name, size: size)
        do {
            let files = try await list()
            guard !files.contains(where: { $0.name == name }) else {
                throw RemoteError.exists(address, name: name)
            }
            if files.contains(where: { PartialName.matches($0.name) }) {
                try await folder.removeOldPartials()
            }
            uploaded.hash = try await folder.run(
                ["copyto", "--no-traverse"] + Self.comparing
                    + [file.string, folder.path(of: partial)],
                of: name,
                isWriting: true
            ).counts.hash
            try await folder.move(partial, to: self, as: name)
        } catch {
            try? await folder.delete(partial)
            throw error
        }
        try LocalFileSystem().remove(file)
        return uploaded
    }

    /// Removes the partial files of uploads that were killed.
    ///
    /// One that is younger than a day may be an upload of another machine.
    private func removeOldPartials() async throws {
        let pattern = "/\(PartialName.prefix)*\(PartialName.suffix)"
        try await run(["delete", "--min-age", "24h", "--include", pattern, place], isWriting: true)
    }

    public func download(_ name: String, to path: FilePath) async throws {
        guard try await contains(name) else { throw RemoteError.noFile(address, name: name) }
        guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
        try await run(["copyto", "--no-traverse", self.path(of: name), path.string], of: name)
    }

    public func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        guard let folder = folder as? RcloneFolder else {
            preconditionFailure("a file moves within one remote folder")
        }
        guard try await !folder.contains(newName) else {
            throw RemoteError.exists(folder.address, name: newName)
        }
        guard try await contains(name) else { throw RemoteError.noFile(address, name: name) }
        let target = folder.path(of: newName)
        try await run(
            ["moveto", "--ignore-existing", path(of: name), target],
            of: name,
            isWriting: true
        )
        // If the name was taken meanwhile, rclone leaves the file in its place and is content.
        guard try await !contains(name) else {
            throw RemoteError.exists(folder.address, name: newName)
        }
    }

    private func contains(_ name: String) async throws -> Bool {
        try await list().contains { $0.name == name }
    }

    public func delete(_ name: String) async throws {
        do {
            try await run(["deletefile", path(of: name)], of: name, isWriting: true)
        } catch RemoteError.noFile {
            return
        } catch {
            // Not every rclone has an exit code for it: 1.60 says only that it failed.
            guard try await contains(name) else { return }
            throw error
        }
    }

    func path(of name: String) -> String { Self.appending(place, name) }

    private static func appending(_ place: String, _ name: String) -> String {
        place.hasSuffix(":") || place.hasSuffix("/") ? place + name : "\(place)/\(name)"
    }

    /// Runs a command of rclone's that is about this folder.
    @discardableResult
    func run(
        _ arguments: [String],
        of file: String? = nil,
        isWriting: Bool = false
    ) async throws -> Rclone.Outcome {
        var job = Rclone.Job(arguments, of: address)
        job.file = file
        job.isWriting = isWriting
        return try await rclone.run(job)
    }
}
