internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage

/// The restore journal: it records what a restore is about to do.
///
/// It is on the disk before each step, so that the next run of any command can finish or undo what a crash
/// interrupted. It identifies directories by their inodes, which renaming keeps.
struct RestoreJournal: Codable {
    /// The states of a restore; `NameSwap` has the table of what each of them means.
    enum Phase: String, Codable {
        /// `new` is being filled; the stores directory is untouched.
        case staging
        /// `new` is complete and checked; the present data is moving to `old`.
        ///
        /// If the stores directory moves as a whole, the new data moves in too.
        case settingAside = "setting_aside"
        /// The names in `new` are moving into the stores directory.
        case puttingIn = "putting_in"
        /// The restored data must be removed; it is moving to the place of refused data.
        case takingOut = "taking_out"
        /// The data in `old` is moving back.
        case puttingBack = "putting_back"
        /// The restored data is in place and good; `old` is being removed.
        case cleaning
        /// All data is in its place; the stopped application must still be started.
        case settled
    }

    /// A directory that its owner may not change, and the write permission that it has only while it moves.
    struct Loosened: Codable {
        private var bytes: Data
        var inode: UInt64
        /// Its own permission bits.
        var mode: UInt16

        init(_ path: RelativePath, _ info: FileInfo) {
            bytes = Data(path.bytes)
            inode = info.identity.inode
            mode = info.mode
        }

        /// Its path below the directory that it is in; `nil` if that leads elsewhere.
        var path: RelativePath? { try? RelativePath(validating: Array(bytes)) }
        /// Its permission bits while it moves.
        var looseMode: UInt16 { mode | 0o200 }
    }

    /// The version that this program writes, and the newest that it obeys.
    private static let currentVersion = 1

    var version = Self.currentVersion
    var phase: Phase
    /// The directory that was in place before; `nil` if there was none, or if names in it move.
    var old: FileInfo.Identity?
    /// The directory that is being restored, once it exists; `nil` if names in the stores directory move.
    var new: FileInfo.Identity?
    /// The backup's name, for messages.
    var backup: String
    /// The identity of the backup that was made of the present data, once it is made; `nil` without one.
    var safety: String?
    /// The number of staged stores, from the exchange on.
    var stores = 0
    /// Whether damaged stores are restored too.
    var allowsDamage = false
    /// Whether one of the user's commands has begun to stop the application, and none has started it since.
    ///
    /// A journal never contains the commands: anyone who can write a journal could otherwise have commands run.
    var isApplicationStopped = false
    /// The name for the refused data, beside the journal; recorded before the data is moved there.
    var refused: String?
    /// The paths that stay though the backup lacks them, separated by NUL; see `keptPaths`.
    private var kept: Data?
    /// The rules by which the backup excluded files, from the exchange on; `nil` if it has none.
    var exclusions: Exclusions?
    /// The paths that are exchanged, separated by NUL; `nil` if all are, see `part`.
    private var only: Data?

    /// The directory that was last given a write permission for a move; `nil` if none was, or if it has its own again.
    var loosened: Loosened?

    /// The greatest length of all kept paths in bytes.
    static let keptLimit = 40 << 20
    /// The greatest length of all exchanged paths in bytes.
    static let partLimit = 4 << 20
    /// The greatest size of a journal in bytes; a longer file is not one of ours.
    private static let sizeLimit: Int64 = 64 << 20

    /// The kept paths, in the order in which they move.
    var keptPaths: [RelativePath] {
        get { kept.map(Self.paths) ?? [] }
        set { kept = newValue.isEmpty ? nil : Self.data(newValue) }
    }

    /// The exchanged paths; `nil` if all are exchanged.
    var part: RestoredPart? {
        get { only.map { RestoredPart(Self.paths($0)) } }
        set { only = newValue.map { Self.data($0.roots) } }
    }

    init(phase: Phase, backup: String) {
        (self.phase, self.backup) = (phase, backup)
    }

    private static func paths(_ data: Data) -> [RelativePath] {
        // A path that leads out of the directory must never be moved.
        data.split(separator: 0).compactMap { try? RelativePath(validating: $0) }
    }

    private static func data(_ paths: [RelativePath]) -> Data {
        Data(paths.map(\.bytes).joined(separator: [0]))
    }

    /// Reads a restore journal; `nil` if there is none.
    ///
    /// - Throws: `RestoreError.cannotRecover` or `.newerJournal` if it cannot be obeyed.
    static func read(_ path: FilePath) throws -> RestoreJournal? {
        guard let info = try FileInfo.ifPresent(path) else { return nil }
        func refusal(_ reason: String) -> RestoreError { .cannotRecover(path, reason: reason) }
        guard info.kind == .file else { throw refusal("it is no file") }
        let data: Data
        do {
            data = Data(try File.contents(of: path, limit: sizeLimit))
        } catch FileError.tooLong {
            throw refusal("it cannot be read")
        }
        struct Version: Decodable { var version: Int }
        // Check the version first: a newer journal's words may have another meaning, or be unknown here.
        let version = try? JSONDecoder().decode(Version.self, from: data).version
        if let version, version > currentVersion { throw RestoreError.newerJournal(path) }
        guard let version, version > 0,
            let journal = try? JSONDecoder().decode(RestoreJournal.self, from: data)
        else { throw refusal("it cannot be read") }
        return journal
    }

    /// Returns the place for the refused data; `nil` if none was recorded.
    func refused(in paths: RestorePaths) -> FilePath? {
        let name = refused.flatMap { FilePath.Component($0) }
        guard let name, name.kind == .regular else { return nil }
        return paths.area.appending(name)
    }

    func write(to path: FilePath, with fileSystem: any FileSystem) throws {
        try fileSystem.write(Array(JSONEncoder().encode(self)), to: path)
    }
}
