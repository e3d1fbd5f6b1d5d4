internal import Files
internal import Foundation
internal import Processes
public import SystemPackage

/// Anything that rclone reaches (https://rclone.org/docs/), through the `rclone` command.
///
/// A file is uploaded under a hidden name and then renamed, since not every cloud shows a file
/// only once it is whole.
public struct RcloneFolder: RemoteFolder {
    /// What rclone calls the folder: `remote:path`.
    public let remote: String
    public let staging: FilePath

    public var address: String { Self.scheme + remote }

    /// What an address begins with that is meant for rclone.
    public static let scheme = "rclone:"

    // rclone's exit codes (https://rclone.org/docs/#exit-code).
    private static let directoryNotFound: CInt = 3
    private static let fileNotFound: CInt = 4

    /// Names a folder.
    ///
    /// - Parameters:
    ///   - remote: as rclone takes it: `dropbox:Apps/Grocery Dude`.
    ///   - staging: a directory of this machine, only for this remote folder.
    public init(_ remote: String, staging: FilePath) {
        self.remote = remote
        self.staging = staging
    }

    public func list(in subfolder: String?) async throws -> [RemoteFile] {
        struct Listed: Decodable {
            var Name: String
            var Size: Int64
        }
        let place = subfolder.map(path(of:)) ?? remote
        let output: String
        do {
            output = try await rclone(
                "lsjson",
                "--files-only",
                "--no-modtime",
                "--no-mimetype",
                place
            )
        } catch RemoteError.missing where subfolder != nil {
            return []
        }
        do {
            return try JSONDecoder().decode([Listed].self, from: Data(output.utf8))
                .map { RemoteFile(name: $0.Name, size: $0.Size) }
        } catch is DecodingError {
            throw RemoteError.rclone(address, reason: "its list is not what was expected")
        }
    }

    public func upload(_ file: FilePath, as name: String) async throws {
        let partial = Self.makePartialName()
        do {
            let (subfolder, last) = Self.split(name)
            let files = try await list(in: subfolder)
            guard !files.contains(where: { $0.name == last }) else {
                throw RemoteError.exists(address, name: name)
            }
            if files.contains(where: { Self.isPartialName($0.name) }) {
                try await removeOldPartials()
            }
            _ = try await rclone("copyto", "--no-traverse", file.string, path(of: partial))
            try await move(partial, to: name)
        } catch {
            try? await delete(partial)
            throw error
        }
        try LocalFileSystem().remove(file)
    }

    /// Removes what uploads left that were killed.
    ///
    /// Another machine may be at one of its own, so a day has to have gone by.
    private func removeOldPartials() async throws {
        let pattern = "/\(Self.partialPrefix)*\(Self.partialSuffix)"
        _ = try await rclone("delete", "--min-age", "24h", "--include", pattern, remote)
    }

    public func download(_ name: String, to path: FilePath) async throws {
        guard try await contains(name) else {
            throw RemoteError.noFile(address, name: name)
        }
        guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
        _ = try await rclone("copyto", "--no-traverse", self.path(of: name), path.string)
    }

    public func move(_ name: String, to newName: String) async throws {
        guard try await !contains(newName) else {
            throw RemoteError.exists(address, name: newName)
        }
        guard try await contains(name) else { throw RemoteError.noFile(address, name: name) }
        _ = try await rclone("moveto", "--ignore-existing", path(of: name), path(of: newName))
        // Where the name was taken meanwhile, rclone leaves the file where it was and is content.
        guard try await !contains(name) else {
            throw RemoteError.exists(address, name: newName)
        }
    }

    private func contains(_ name: String) async throws -> Bool {
        let (subfolder, last) = Self.split(name)
        return try await list(in: subfolder).contains { $0.name == last }
    }

    public func delete(_ name: String) async throws {
        do {
            _ = try await rclone("deletefile", path(of: name))
        } catch RemoteError.noFile {
            return
        } catch {
            // Not every rclone has an exit code for it: 1.60 says only that it failed.
            guard try await contains(name) else { return }
            throw error
        }
    }

    private func path(of name: String) -> String {
        remote.hasSuffix(":") || remote.hasSuffix("/") ? remote + name : "\(remote)/\(name)"
    }

    private func rclone(_ arguments: String...) async throws -> String {
        let result: ChildProcess.Capture
        do {
            result = try await ChildProcess("rclone", arguments).capture()
        } catch ProcessError.notInstalled {
            throw RemoteError.noRclone(address)
        }
        switch result.ending {
        case .exited(0): return String(decoding: result.output, as: UTF8.self)
        case .exited(Self.directoryNotFound): throw RemoteError.missing(address)
        case .exited(Self.fileNotFound):
            throw RemoteError.noFile(address, name: arguments.last ?? "")
        default: throw RemoteError.rclone(address, reason: lastLine(of: result.errors))
        }
    }

    /// rclone's last words, without their date.
    private func lastLine(of text: String) -> String {
        let line = text.split(separator: "\n").last.map(String.init) ?? "it said nothing"
        return line.replacing(#/^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d /#, with: "")
    }
}
