internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage

/// The restore journal: what a restore is about to do, written before it does it.
///
/// It is on the disk before each step, so that the next run of any command can finish or undo what
/// a crash interrupted. Directories are told by their inodes, which renaming keeps.
struct RestoreJournal: Codable {
    /// The states of a restore.
    enum Phase: String, Codable {
        /// `new` is being filled; the stores directory is untouched.
        case staging
        /// The restored data is in place and good; `old` is being removed.
        case cleaning
        /// All is where it belongs; the application, which was stopped, is still to be started.
        case settled

        // Of a `StoresSwap`.

        /// `new` is complete and checked; it is taking the place of the stores directory, or has.
        case swapping
        /// The restored data has to go; `old` is being put back.
        case rollingBack = "rolling_back"

        // Of a `ChildrenSwap`.

        /// `new` is complete and checked; what is in the stores directory is moving to `old`.
        case settingAside = "setting_aside"
        /// The names in `new` are moving into the stores directory.
        case puttingIn = "putting_in"
        /// The restored data has to go; its names are moving back to `new`.
        case takingOut = "taking_out"
        /// The names in `old` are moving back into the stores directory.
        case puttingBack = "putting_back"
    }

    /// The version that this program writes, and the newest that it obeys.
    private static let currentVersion = 3
    /// The one of a restore that keeps what its backup left out.
    private static let keepingVersion = 2
    /// The one of a restore of a whole backup that keeps nothing, which older programs know too.
    private static let plainVersion = 1

    var version = Self.plainVersion
    var phase: Phase
    /// The directory that was there; `nil` if there was none, and in a `ChildrenSwap`.
    var old: FileInfo.Identity?
    /// The directory that is being restored, once it is there.
    var new: FileInfo.Identity?
    /// The backup's name, for messages.
    var backup: String
    /// How many stores were staged, from the exchange on; `nil` if a version wrote it that did not count.
    var stores: Int?
    /// Whether damaged stores were to be restored all the same.
    var allowsDamage: Bool?
    /// Whether a command of the user's has begun to stop the application, and none has started it since.
    ///
    /// A journal never says which commands: anybody who can write one could have them run.
    var isApplicationStopped: Bool?
    /// The name of the data that was refused, beside the journal, before it is moved there.
    var refused: String?
    /// The paths that stay though they are not in the backup, with a NUL between them; see `keptPaths`.
    var kept: Data?
    /// The rules by which the backup left out files, from the exchange on; `nil` if it has none.
    private(set) var exclusions: Exclusions?
    /// The paths that are exchanged, with a NUL between them; `nil` if all are, see `part`.
    private(set) var only: Data?

    /// Bytes of all kept paths at most.
    static let keptLimit = 40 << 20
    /// Bytes of all paths that are exchanged at most.
    static let partLimit = 4 << 20
    /// A journal says names and numbers; one that is longer than this is none of ours.
    private static let sizeLimit: Int64 = 64 << 20

    /// Remembers what is kept; a program that does not know of that must not remove it.
    mutating func keep(_ paths: [RelativePath], by exclusions: Exclusions) {
        version = max(version, Self.keepingVersion)
        self.exclusions = exclusions
        keptPaths = paths
    }

    /// The paths that are kept, in the order in which they move.
    var keptPaths: [RelativePath] {
        get { kept.map(Self.paths) ?? [] }
        set { kept = newValue.isEmpty ? nil : Self.data(newValue) }
    }

    /// The paths that are exchanged; `nil` if all are.
    ///
    /// A program that does not know of that must not move any.
    var part: RestoredPart? {
        get { only.map { RestoredPart(Self.paths($0)) } }
        set {
            only = newValue.map { Self.data($0.roots) }
            if newValue != nil { version = Self.currentVersion }
        }
    }

    private static func paths(_ data: Data) -> [RelativePath] {
        // A path that leads out of the directory is nobody's to move.
        data.split(separator: 0).compactMap { try? RelativePath(validating: $0) }
    }

    private static func data(_ paths: [RelativePath]) -> Data {
        Data(paths.map(\.bytes).joined(separator: [0]))
    }

    /// Reads a restore journal, `nil` if there is none; throws `RestoreError.cannotRecover` or `.newerJournal`
    /// if it cannot be obeyed.
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
        // First of all: the words of a newer one may mean something else, or be unknown here.
        let version = try? JSONDecoder().decode(Version.self, from: data).version
        if let version, version > currentVersion { throw RestoreError.newerJournal(path) }
        guard let version, version > 0,
            let journal = try? JSONDecoder().decode(RestoreJournal.self, from: data)
        else { throw refusal("it cannot be read") }
        return journal
    }

    /// Returns where the refused data is by now; `nil` if there is none.
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
