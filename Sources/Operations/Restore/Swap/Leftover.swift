internal import Backups
internal import Files
internal import Foundation
public import SystemPackage

/// Another program's file or directory under a name that a restore needs.
public struct Leftover: Sendable, Equatable, CustomStringConvertible {
    public let path: FilePath
    private let content: String
    /// Nanoseconds since 1970-01-01 UTC.
    private let modified: Int64

    /// Examines a path; `nil` if nothing is there.
    ///
    /// - Throws: `FileError` if the path cannot be examined.
    init?(at path: FilePath) throws {
        guard let info = try FileInfo.ifPresent(path) else { return nil }
        self.path = path
        modified = info.modified
        guard info.kind == .directory else {
            content = "it is not a directory"
            return
        }
        let names = (try? Directory.open(path).names()) ?? []
        let first = names.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        content = names.isEmpty ? "nothing is in it" : "in it: \(first)\(more)"
    }

    public var description: String {
        let date = Date(timeIntervalSince1970: Double(modified) / 1e9)
        return "\(content); last changed \(Timestamp.rfc3339(date, in: .current))"
    }
}

extension RestorePaths {
    /// Clears the names that a restore needs: removes empty directories, and renames anything else if the user wants
    /// that.
    ///
    /// - Parameters:
    ///   - setsAside: whether to rename anything that is not an empty directory.
    ///   - fileSystem: the file system that renames it.
    ///   - note: receives a message about each change.
    /// - Throws: `RestoreError.inTheWay` if something stays; `FileError`.
    func makeRoom(
        settingAside setsAside: Bool,
        with fileSystem: any FileSystem,
        note: (String) -> Void
    ) throws {
        if try FileInfo.ifPresent(area)?.kind != .directory, let leftover = try Leftover(at: area) {
            throw RestoreError.inTheWay(leftover)
        }
        for path in [new, old] {
            guard let leftover = try Leftover(at: path) else { continue }
            if try path.removeIfEmpty() {
                note("'\(printable(path))' was empty, and is removed")
                continue
            }
            guard setsAside else { throw RestoreError.inTheWay(leftover) }
            let place = try vacant("Old", from: 2)
            try fileSystem.move(path, to: place)
            try fileSystem.sync(area)
            note("'\(printable(path))' is now '\(printable(place))'")
        }
    }

    /// Throws `RestoreError.inTheWay` if there is something that `makeRoom` would not remove.
    func refuseLeftovers() throws {
        for path in [new, old] {
            guard let leftover = try Leftover(at: path) else { continue }
            if (try? Directory.open(path).names())?.isEmpty ?? false { continue }
            throw RestoreError.inTheWay(leftover)
        }
    }
}

extension FilePath {
    /// Removes an empty directory; returns `false` if there is anything else.
    func removeIfEmpty() throws -> Bool {
        guard try FileInfo.ifPresent(self)?.kind == .directory else { return false }
        do {
            try LocalFileSystem().removeEmptyDirectory(self)
            return true
        } catch FileError.exists, FileError.failed(_, _, .directoryNotEmpty) {
            return false
        }
    }
}
