import Remotes
import Synchronization
import SystemPackage

/// A remote folder that stops answering after so many calls.
struct BrokenFolder: RemoteFolder {
    /// How many calls are left, of all folders of it.
    final class Patience: Sendable {
        private let calls: Mutex<Int>

        init(_ calls: Int) { self.calls = Mutex(calls) }

        var isAtEnd: Bool { calls.withLock { $0 < 0 } }

        func use(_ address: String) throws {
            try calls.withLock {
                $0 -= 1
                guard $0 >= 0 else {
                    throw RemoteError.unreachable(address, reason: "connection refused")
                }
            }
        }
    }

    let real: any RemoteFolder
    let patience: Patience

    var description: String { real.description }

    func list() async throws -> [RemoteFile] {
        try patience.use(address)
        // As a server's: none can be read without a call.
        return try await real.list().map { RemoteFile(name: $0.name, size: $0.size) }
    }

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        try patience.use(address)
        return try await real.upload(file, as: name)
    }

    func download(_ name: String, to path: FilePath) async throws {
        try patience.use(address)
        try await real.download(name, to: path)
    }

    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try patience.use(address)
        return try await real.download(name, range: range)
    }

    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        try patience.use(address)
        try await real.move(name, to: folder, as: newName)
    }

    func delete(_ name: String) async throws {
        try patience.use(address)
        try await real.delete(name)
    }

    func subfolder(_ name: String) -> any RemoteFolder {
        BrokenFolder(real: real.subfolder(name), patience: patience)
    }
}
