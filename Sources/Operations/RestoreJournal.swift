internal import Files
internal import Foundation
internal import SystemPackage

/// The directories that a restore works with: all beside the stores directory.
struct RestorePaths {
    let parent: FilePath
    /// The stores directory.
    let live: FilePath
    /// What is being restored.
    let new: FilePath
    /// What was there.
    let old: FilePath
    let journal: FilePath

    /// - Parameter live: the stores directory, without symbolic links.
    init(live: FilePath) {
        self.live = live
        parent = live.removingLastComponent()
        let name = live.lastComponent?.string ?? "Stores"
        new = parent.appending("\(name)_New")
        old = parent.appending("\(name)_Old")
        journal = parent.appending(".\(name)_Restore.json")
    }

    /// A name beside the stores directory that is free, for data that is to be kept.
    ///
    /// - Parameters:
    ///   - suffix: what follows the directory's own name: `Stores_FailedRestore`.
    ///   - first: the first number to try; 1 is not written.
    /// - Returns: a path where nothing is.
    /// - Throws: `FileError`.
    func vacant(_ suffix: String, from first: Int = 1) throws -> FilePath {
        let name = "\(live.lastComponent?.string ?? "Stores")_\(suffix)"
        for number in first... {
            let path = parent.appending(number == 1 ? name : "\(name)_\(number)")
            if try FileInfo.ifPresent(path) == nil { return path }
        }
        preconditionFailure("numbers do not end")
    }
}

/// What a restore is about to do, written before it does it.
///
/// It is on the disk before each step, so that the next run of any command can finish or undo what
/// a crash interrupted. Directories are told by their inodes, which renaming keeps.
struct RestoreJournal: Codable {
    /// The states of a restore.
    enum Phase: String, Codable {
        /// `new` is being filled; the stores directory is untouched.
        case staging
        /// `new` is complete and checked; it is taking the place of the stores directory, or has.
        case swapping
        /// What was restored did not reopen; what was there is being put back.
        case rollingBack = "rolling_back"
        /// What was restored is in place and good; `old` is being removed.
        case cleaning
    }

    var version = 1
    var phase: Phase
    /// The directory that was there; `nil` where there was none.
    var old: FileInfo.Identity?
    /// The directory that is being restored, once it is there.
    var new: FileInfo.Identity?
    /// The backup's name, for messages.
    var backup: String

    static func read(_ path: FilePath) throws -> RestoreJournal? {
        guard let info = try FileInfo.ifPresent(path) else { return nil }
        let bytes = try File.open(path).readExactly(count: Int(info.size), at: 0)
        do {
            return try JSONDecoder().decode(RestoreJournal.self, from: Data(bytes))
        } catch {
            throw OperationError.cannotRecover(path, reason: "its journal cannot be read")
        }
    }

    func write(to path: FilePath, with fileSystem: any FileSystem) throws {
        try fileSystem.write(Array(JSONEncoder().encode(self)), to: path)
    }
}
