internal import Files
public import Foundation
internal import Stores
public import SystemPackage

/// How a stores directory stands on the disk, as far as that can be told without opening a file.
///
/// As long as it stands the same, nothing has to be backed up. What SQLite's readers change, we among them,
/// does not count.
public struct StoresSight: Sendable {
    /// Times have a grain: what was changed so shortly before may be changed again without a trace.
    private static let grain: Int64 = 2_000_000_000

    /// A text that is another one if anything is.
    public let text: String
    /// Whether every later change will show.
    public let isSettled: Bool

    /// Looks at everything that a backup would save.
    ///
    /// - Parameters:
    ///   - path: the stores directory.
    ///   - options: what the backup leaves out.
    ///   - now: the time.
    /// - Throws: `FileError` if the directory cannot be read.
    public init(of path: FilePath, as options: BackupOptions, at now: Date) throws {
        let stores = try StoresDirectory(path)
        let time = Int64(now.timeIntervalSince1970 * 1_000_000_000)
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
    /// Whether it is a file beside a database that comes and goes as that is read or written: the database itself,
    /// or its log, tells of each change.
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
