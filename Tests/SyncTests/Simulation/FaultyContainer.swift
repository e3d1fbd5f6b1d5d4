import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport

/// A device's sight of a shared folder: files come late, out of order, cut, and under two names.
///
/// Those that were deleted stay for a while, with their content or without; what comes late may be deleted
/// before.
struct FaultyContainer: RemoteFolder {
    /// What one device has seen.
    final class Sight: @unchecked Sendable {
        let seed: UInt64
        /// Whether faults happen; without them everything is there at once.
        var isFaulty = true
        var lists: [String: Int] = [:]
        /// Files that were listed, and how often since they went.
        fileprivate var listed: [String: (file: RemoteFile, gone: Int)] = [:]

        /// The names that programs give to copies.
        private static let copies = [
            " (conflicted copy)", " (1)", ".sync-conflict-20261121-171755-ABCDEFG", "~1",
        ]

        init(seed: UInt64) {
            self.seed = seed
        }

        /// Returns how a file looks: how many lists late, and how many more it is cut.
        func fate(_ name: String) -> Fate {
            var hash = seed
            for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            var random = Pseudorandom(seed: hash)
            let late = Int(random.next() % 4)
            return Fate(
                late: random.next() % 3 == 0 ? late : 0,
                cut: random.next() % 6 == 0 ? 2 : 0,
                copy: random.next() % 8 == 0
                    ? Self.copies[Int(random.next() % UInt64(Self.copies.count))] : nil,
                staying: random.next() % 4 == 0 ? 3 : 0,
                isReadable: random.next() % 2 == 0
            )
        }
    }

    /// How a file looks to a device.
    struct Fate {
        /// How many lists it is late, and how many more it is cut.
        var late: Int
        var cut: Int
        /// What a copy of it has at the end of its name.
        var copy: String?
        /// For how many lists it stays after it was deleted, and whether it can be read then.
        var staying: Int
        var isReadable: Bool
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
            let fate = sight.fate(file.name)
            if count < fate.late { continue }
            if count < fate.late + fate.cut {
                let path = scratch.appending("cut.\(file.name)")
                let bytes = try File.contents(of: real.path.appending(file.name), limit: 1 << 26)
                try LocalFileSystem().write(Array(bytes.prefix(bytes.count / 2)), to: path)
                files.append(
                    RemoteFile(name: file.name, size: Int64(bytes.count / 2), location: path)
                )
                continue
            }
            files.append(file)
            sight.listed[key] = (file, 0)
            if let copy = fate.copy {
                files.append(
                    RemoteFile(
                        name: "\(file.name)\(copy)",
                        size: file.size,
                        location: file.location
                    )
                )
            }
        }
        return files.reversed() + deleted(besides: files)
    }

    /// Files that are gone, and that this device still sees.
    private func deleted(besides files: [RemoteFile]) -> [RemoteFile] {
        guard sight.isFaulty else { return [] }
        let names = Set(files.map(\.name))
        var deleted: [RemoteFile] = []
        for (key, (file, gone)) in sight.listed
        where key == "\(real.address)/\(file.name)" && !names.contains(file.name) {
            let fate = sight.fate(file.name)
            sight.listed[key] = gone < fate.staying ? (file, gone + 1) : nil
            guard gone < fate.staying else { continue }
            deleted.append(
                RemoteFile(
                    name: file.name,
                    size: file.size,
                    location: fate.isReadable ? ledger.appending(file.name) : nil
                )
            )
        }
        return deleted.sorted { $0.name < $1.name }
    }

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        let copy = ledger.appending(name)
        if try FileInfo.ifPresent(copy) == nil {
            try File.open(file).copy(to: copy, syncing: false)
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
