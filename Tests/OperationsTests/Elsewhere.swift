import Remotes
import SystemPackage
import Testing

/// A folder whose files are not on this machine, as those of a cloud; to fetch one is a failure, unless
/// that is what a test is about.
struct Elsewhere: RemoteFolder {
    let folder: any RemoteFolder
    var isFetching = false
    /// Called with each range that is fetched, and may change what comes of it.
    var ranged: @Sendable (Range<Int64>, [UInt8]) throws -> [UInt8] = { $1 }
    /// The size that it claims of each file, unless that is the truth.
    var claimedSize: Int64?
    var description = "elsewhere"

    func list() async throws -> [RemoteFile] {
        try await folder.list().map {
            RemoteFile(name: $0.name, size: claimedSize ?? $0.size)
        }
    }
    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        let file = try await folder.upload(file, as: name)
        return RemoteFile(name: file.name, size: file.size)
    }
    func download(_ name: String, to path: FilePath) async throws {
        guard isFetching else {
            Issue.record("'\(name)' was fetched")
            return
        }
        try await folder.download(name, to: path)
    }
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try ranged(range, await folder.download(name, range: range))
    }
    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        let target = try #require(folder as? Elsewhere)
        try await self.folder.move(name, to: target.folder, as: newName)
    }
    func delete(_ name: String) async throws { try await folder.delete(name) }
    func subfolder(_ name: String) -> any RemoteFolder {
        Elsewhere(
            folder: folder.subfolder(name),
            isFetching: isFetching,
            ranged: ranged,
            claimedSize: claimedSize,
            description: "\(description)/\(name)"
        )
    }
}
