import Files
import Stores
import SystemPackage

@testable import Sync

extension Device {
    /// The directory of its external data.
    var filesPath: FilePath { stores.appending(".a_SUPPORT/_EXTERNAL_DATA") }

    /// Writes a file of external data as an application does, before it writes the row.
    ///
    /// - Returns: the value that names it, for SQL. The file's content is its name.
    func addFile(_ high: UInt64, _ low: UInt64) -> String {
        func digits(_ number: UInt64) -> String {
            let text = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        var name = digits(high) + digits(low)
        for place in [20, 16, 12, 8] {
            name.insert("-", at: name.index(name.startIndex, offsetBy: place))
        }
        try? LocalFileSystem().createDirectories(filesPath)
        try? LocalFileSystem().write(Array(name.utf8), to: filesPath.appending(name))
        let bytes = [2] + Array(name.utf8) + [0]
        return "x'\(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
    }

    /// The names that rows have and that no file has, or one of another content.
    func lackingFiles() throws -> [String] {
        let cut = try StoresCut(
            of: [store],
            scratchParent: root.appending("scratch"),
            busyTimeout: .seconds(1)
        )
        guard let snapshot = cut.members.first?.snapshot else { throw Killed() }
        return try withExtendedLifetime(cut) {
            try snapshot.externalReferences().sorted().filter { name in
                let path = filesPath.appending(name)
                guard try FileInfo.ifPresent(path) != nil else { return true }
                return try File.contents(of: path, limit: 1 << 10) != Array(name.utf8)
            }
        }
    }

    /// Copies files of external data that are not there to another directory.
    func copyFiles(from source: FilePath, to target: FilePath) throws {
        guard try FileInfo.ifPresent(source) != nil else { return }
        try LocalFileSystem().createDirectories(target)
        for name in try Directory.open(source).names() {
            let path = target.appending(name.description)
            guard try FileInfo.ifPresent(path) == nil else { continue }
            _ = try File.open(source.appending(name.description)).copy(to: path, syncing: false)
        }
    }
}
