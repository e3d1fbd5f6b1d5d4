internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage

/// The restore journal: it records what a restore is about to do.
///
/// It is on the disk before each step, so that the next run of any command can finish or undo what a crash
/// interrupted. It identifies directories by their inodes, which renaming keeps.
struct RestoreJournal: Codable {
    /// The states of a restore.
    enum Phase: String, Codable {
        /// `new` is being filled; the stores directory is untouched.
        case staging
        /// The restored data is in place and good; `old` is being removed.
        case cleaning
        /// All data is in its place; the stopped application must still be started.
        case settled

        // Phases of a `StoresSwap`.

        /// `new` is complete and checked; it is replacing the stores directory, or has replaced it.
        case swapping
        /// The restored data must be removed; `old` is being put back.
        case rollingBack = "rolling_back"

        // Phases of a `ChildrenSwap`.

        /// `new` is complete and checked; the content of the stores directory is moving to `old`.
        case settingAside = "setting_aside"
        /// The names in `new` are moving into the stores directory.
        case puttingIn = "putting_in"
        /// The restored data must be removed; its names are moving back to `new`.
        case takingOut = "taking_out"
        /// The names in `old` are moving back into the stores directory.
        case puttingBack = "putting_back"
    }

    /// The newest version that this program writes and obeys.
    private static let currentVersion = 3
    /// The version for a restore that keeps data that its backup excluded.
    private static let keepingVersion = 2
    /// The version for a restore of a whole backup that keeps nothing; older programs also obey it.
    private static let plainVersion = 1

    var version = Self.plainVersion
    var phase: Phase
    /// The directory that was in place before; `nil` if there was none, and in a `ChildrenSwap`.
    var old: FileInfo.Identity?
    /// The directory that is being restored, once it exists.
    var new: FileInfo.Identity?
    /// The backup's name, for messages.
    var backup: String
    /// The number of staged stores, from the exchange on; `nil` in a journal of a version that did not count.
    var stores: Int?
    /// Whether damaged stores are restored too.
    var allowsDamage: Bool?
    /// Whether one of the user's commands has begun to stop the application, and none has started it since.
    ///
    /// A journal never contains the commands: anyone who can write a journal could otherwise have commands run.
    var isApplicationStopped: Bool?
    /// The name for the refused data, beside the journal; recorded before the data is moved there.
    var refused: String?
    /// The paths that stay though the backup lacks them, separated by NUL; see `keptPaths`.
    var kept: Data?
    /// The rules by which the backup excluded files, from the exchange on; `nil` if it has none.
    private(set) var exclusions: Exclusions?
    /// The paths that are exchanged, separated by NUL; `nil` if all are, see `part`.
    private(set) var only: Data?

    /// The greatest length of all kept paths in bytes.
    static let keptLimit = 40 << 20
    /// The greatest length of all exchanged paths in bytes.
    static let partLimit = 4 << 20
    /// The greatest size of a journal in bytes; a longer file is not one of ours.
    private static let sizeLimit: Int64 = 64 << 20

    /// Records the kept paths; a program that does not know of kept paths must not obey the journal.
    mutating func keep(_ paths: [RelativePath], by exclusions: Exclusions) {
        version = max(version, Self.keepingVersion)
        self.exclusions = exclusions
        keptPaths = paths
    }

    /// The kept paths, in the order in which they move.
    var keptPaths: [RelativePath] {
        get { kept.map(Self.paths) ?? [] }
        set { kept = newValue.isEmpty ? nil : Self.data(newValue) }
    }

    /// The exchanged paths; `nil` if all are exchanged.
    ///
    /// A program that does not know of parts must not obey the journal.
    var part: RestoredPart? {
        get { only.map { RestoredPart(Self.paths($0)) } }
        set {
            only = newValue.map { Self.data($0.roots) }
            if newValue != nil { version = Self.currentVersion }
        }
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

    /// Returns the place to which the refused data was moved; `nil` if there is none.
    func keptRefusal(in paths: RestorePaths) throws -> FilePath? {
        let name = refused.flatMap { FilePath.Component($0) }
        guard let name, name.kind == .regular else { return nil }
        let path = paths.area.appending(name)
        return try FileInfo.ifPresent(path) == nil ? nil : path
    }

    func write(to path: FilePath, with fileSystem: any FileSystem) throws {
        try fileSystem.write(Array(JSONEncoder().encode(self)), to: path)
    }
}
