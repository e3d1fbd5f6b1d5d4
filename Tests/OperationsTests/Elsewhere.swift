import Remotes
import SystemPackage
import Testing

/// A folder whose files are not on this machine, as those of a cloud; to fetch one is a failure, unless
/// that is what a test is about.
struct Elsewhere: RemoteFolder {
    let folder: LocalFolder
    var isFetching = false
    /// The size that it claims of each file, where that is not the truth.
    var claimedSize: Int64?
    var address: String { "elsewhere" }
    var staging: FilePath { folder.staging }

    func list(in subfolder: String?) async throws -> [RemoteFile] {
        try await folder.list(in: subfolder).map {
            RemoteFile(name: $0.name, size: claimedSize ?? $0.size)
        }
    }
    func upload(_ file: FilePath, as name: String) async throws {
        try await folder.upload(file, as: name)
    }
    func download(_ name: String, to path: FilePath) async throws {
        guard isFetching else {
            Issue.record("'\(name)' was fetched")
            return
        }
        try await folder.download(name, to: path)
    }
    func move(_ name: String, to newName: String) async throws {
        try await folder.move(name, to: newName)
    }
    func delete(_ name: String) async throws { try await folder.delete(name) }
}
