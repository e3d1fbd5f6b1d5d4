import Files
import Remotes
import Synchronization
import SystemPackage

/// A folder of a cloud that lists for a while what was there before, and that replaces a file which it does
/// not list.
struct LaggingFolder: RemoteFolder {
    /// What is listed, by the address of a folder.
    final class Lag: Sendable {
        fileprivate let lists = Mutex<[String: [RemoteFile]]?>(nil)
        /// How many files were replaced.
        let replaced = Mutex(0)

        /// Lists from now on only what is listed now.
        func begin(_ folder: LaggingFolder, subfolders: [String]) async throws {
            var lists: [String: [RemoteFile]] = [:]
            let all = [folder] + subfolders.compactMap { folder.subfolder($0) as? LaggingFolder }
            for folder in all { lists[folder.address] = try await folder.list() }
            self.lists.withLock { [lists] in $0 = lists }
        }

        func end() { lists.withLock { $0 = nil } }
    }

    let folder: LocalFolder
    let lag: Lag
    var description: String { "lagging:" + folder.description }

    func list() async throws -> [RemoteFile] {
        if let lists = lag.lists.withLock(\.self) { return lists[address] ?? [] }
        return try await folder.list().map { RemoteFile(name: $0.name, size: $0.size) }
    }

    /// Throws if a name is listed, and takes away a file that has it and is not listed.
    private func makeWay(for name: String) async throws {
        guard try await !list().contains(where: { $0.name == name }) else {
            throw RemoteError.exists(address, name: name)
        }
        guard try FileInfo.ifPresent(folder.path.appending(name)) != nil else { return }
        lag.replaced.withLock { $0 += 1 }
        try await folder.delete(name)
    }

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        try await makeWay(for: name)
        let file = try await folder.upload(file, as: name)
        return RemoteFile(name: file.name, size: file.size)
    }

    func download(_ name: String, to path: FilePath) async throws {
        try await folder.download(name, to: path)
    }

    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await folder.download(name, range: range)
    }

    func move(_ name: String, to target: any RemoteFolder, as newName: String) async throws {
        guard let target = target as? LaggingFolder else { preconditionFailure("another remote") }
        try await target.makeWay(for: newName)
        try await folder.move(name, to: target.folder, as: newName)
    }

    func delete(_ name: String) async throws { try await folder.delete(name) }

    func subfolder(_ name: String) -> any RemoteFolder {
        guard let folder = folder.subfolder(name) as? LocalFolder else {
            preconditionFailure("a subfolder is a folder like its parent")
        }
        return LaggingFolder(folder: folder, lag: lag)
    }
}
