import Remotes
import SystemPackage

/// A folder whose uploads end before or after they were made.
struct InterruptedFolder: RemoteFolder {
    /// Throws to end an upload, by the file's name.
    typealias Interruption = @Sendable (String) throws -> Void

    let real: any RemoteFolder
    var before: Interruption = { _ in }
    var after: Interruption = { _ in }

    var description: String { real.description }

    func list() async throws -> [RemoteFile] { try await real.list() }

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        try before(name)
        let uploaded = try await real.upload(file, as: name)
        try after(name)
        return uploaded
    }

    func download(_ name: String, to path: FilePath) async throws {
        try await real.download(name, to: path)
    }

    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await real.download(name, range: range)
    }

    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        try await real.move(name, to: folder, as: newName)
    }

    func delete(_ name: String) async throws { try await real.delete(name) }

    func subfolder(_ name: String) -> any RemoteFolder {
        InterruptedFolder(real: real.subfolder(name), before: before, after: after)
    }
}
