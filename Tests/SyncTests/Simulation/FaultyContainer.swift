import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport

/// A device's sight of a shared folder: files come late, out of order, cut, and under two names.
struct FaultyContainer: RemoteFolder {
    /// What one device has seen.
    final class Sight: @unchecked Sendable {
        let seed: UInt64
        /// Whether faults happen; without them everything is there at once.
        var isFaulty = true
        var lists: [String: Int] = [:]

        init(seed: UInt64) {
            self.seed = seed
        }

        /// Returns how a file looks: how many lists late, and how many more it is cut.
        func fate(_ name: String) -> (late: Int, cut: Int, isDoubled: Bool) {
            var hash = seed
            for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            var random = Pseudorandom(seed: hash)
            let late = Int(random.next() % 4)
            return (
                random.next() % 3 == 0 ? late : 0, random.next() % 6 == 0 ? 2 : 0,
                random.next() % 8 == 0
            )
        }
    }

    let real: LocalFolder
    let sight: Sight
    let scratch: FilePath
    /// Where a copy of each file is kept that was ever put into the container.
    let ledger: FilePath

    var description: String { real.description }

    func list() async throws -> [RemoteFile] {
        var files: [RemoteFile] = []
        for file in try await real.list() {
            guard sight.isFaulty, !file.name.hasSuffix(".group") else {
                files.append(file)
                continue
            }
            let key = "\(real.address)/\(file.name)"
            let count = sight.lists[key, default: 0]
            sight.lists[key] = count + 1
            let (late, cut, isDoubled) = sight.fate(file.name)
            if count < late { continue }
            if count < late + cut {
                let path = scratch.appending("cut.\(file.name)")
                let bytes = try File.contents(of: real.path.appending(file.name), limit: 1 << 26)
                try LocalFileSystem().write(Array(bytes.prefix(bytes.count / 2)), to: path)
                files.append(
                    RemoteFile(name: file.name, size: Int64(bytes.count / 2), location: path)
                )
                continue
            }
            files.append(file)
            if isDoubled {
                files.append(
                    RemoteFile(
                        name: "\(file.name) (conflicted copy)",
                        size: file.size,
                        location: file.location
                    )
                )
            }
        }
        return files.reversed()
    }

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        let copy = ledger.appending(name)
        if try FileInfo.ifPresent(copy) == nil {
            let bytes = try File.contents(of: file, limit: 1 << 26)
            try LocalFileSystem().write(bytes, to: copy)
        }
        return try await real.upload(file, as: name)
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
        guard let below = real.subfolder(name) as? LocalFolder else {
            preconditionFailure("a local folder has local subfolders")
        }
        return FaultyContainer(real: below, sight: sight, scratch: scratch, ledger: ledger)
    }
}
