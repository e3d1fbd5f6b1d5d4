public import SystemPackage

/// A file system that reports every change after it was made.
public struct ReportingFileSystem: FileSystem {
    /// The importance of a change.
    public enum Weight: Sendable {
        /// A name is created, changed or removed.
        case step
        /// Something is written or synced.
        case detail
    }

    private let base: any FileSystem
    private let report: @Sendable (String, Weight) -> Void

    public init(
        _ base: any FileSystem = LocalFileSystem(),
        report: @escaping @Sendable (String, Weight) -> Void
    ) {
        self.base = base
        self.report = report
    }

    public func createDirectory(_ path: FilePath) throws {
        try base.createDirectory(path)
        report("made '\(printable(path))'", .step)
    }

    public func move(_ path: FilePath, to newPath: FilePath) throws {
        try base.move(path, to: newPath)
        let (old, new) = Self.names(path, newPath)
        report("renamed '\(old)' to '\(new)'", .step)
    }

    public func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
        guard try base.swap(first, second) else { return false }
        let (one, other) = Self.names(first, second)
        report("exchanged '\(one)' and '\(other)'", .step)
        return true
    }

    public func remove(_ path: FilePath) throws {
        let wasThere = try FileInfo.ifPresent(path) != nil
        try base.remove(path)
        if wasThere { report("removed '\(printable(path))'", .step) }
    }

    public func write(_ bytes: [UInt8], to path: FilePath) throws {
        try base.write(bytes, to: path)
        report("wrote '\(printable(path))'", .detail)
    }

    public func sync(_ path: FilePath) throws {
        try base.sync(path)
        report("flushed '\(printable(path))' to the disk", .detail)
    }

    public func setMode(_ mode: UInt16, of path: FilePath) throws {
        try base.setMode(mode, of: path)
        report("gave '\(printable(path))' the permissions \(String(mode, radix: 8))", .detail)
    }

    /// Returns two paths for a message; the second without the directory if both are in the same one.
    private static func names(_ first: FilePath, _ second: FilePath) -> (String, String) {
        let isBeside = first.removingLastComponent() == second.removingLastComponent()
        let name = second.lastComponent.map { FilePath($0.string) } ?? second
        return (printable(first), printable(isBeside ? name : second))
    }
}
