internal import Backups
internal import Files
public import Foundation
internal import Stores
public import SystemPackage

/// A fingerprint of a stores directory, taken without opening a file.
///
/// As long as the fingerprint is the same, there is nothing new to back up. Changes that SQLite's readers make,
/// including this program, do not count.
public struct StoresSight: Sendable {
    /// The granularity of file times in nanoseconds: a file changed within it may change again with the same time.
    private static let grain: Int64 = 2_000_000_000

    /// A text that differs if anything in the directory differs.
    public let text: String
    /// Whether every later change will change the fingerprint.
    public let isSettled: Bool

    /// Examines everything that a backup would save.
    ///
    /// - Parameters:
    ///   - path: the stores directory.
    ///   - options: the backup's options, which say what it leaves out.
    ///   - now: the current time.
    /// - Throws: `FileError` if the directory cannot be read.
    public init(of path: FilePath, as options: BackupOptions, at now: Date) throws {
        let stores = try StoresDirectory(path)
        let time = now.nanoseconds
        var digest = Digest.ofNothing
        var newest = Int64.min
        try Directory.open(stores.path).walk { path, error in
            digest = (digest.bytes + path.bytes + Array(explain(error).utf8)).digest
        } visit: { file in
            let info = file.info
            if file.path.parent == nil, stores.leavesOut(file.name, info) { return .skip }
            if options.leavingOut.leavesOut(file) { return .skip }
            guard !file.isOfReaders else { return .skip }
            var line = file.path.bytes + [0]
            line += Array("\(info.kind) \(info.mode) \(info.owner) \(info.group)".utf8)
            if info.kind != .directory {
                line += Array(
                    " \(info.identity) \(info.size) \(info.modified) \(info.changed)".utf8
                )
                if info.changed <= time + Self.grain { newest = max(newest, info.changed) }
            }
            digest = (digest.bytes + line).digest
            return .descend
        }
        text = digest.description
        isSettled = newest < time - Self.grain
    }
}

extension [UInt8] {
    fileprivate var digest: Digest { withUnsafeBytes { Digest(of: $0) } }
}

extension WalkedFile {
    /// Whether it is a file beside a database that comes and goes when the database is read or written.
    ///
    /// The database itself, or its log, shows every change.
    fileprivate var isOfReaders: Bool {
        guard info.kind == .file else { return false }
        let text = name.description
        for suffix in ["-shm", "-journal", "-wal"] where text.hasSuffix(suffix) {
            guard suffix != "-wal" || info.size == 0,
                let base = try? RelativePath(String(text.dropLast(suffix.count))).name
            else { return false }
            return directory.contains(base)
        }
        return false
    }
}
