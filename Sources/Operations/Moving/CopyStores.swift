public import Backups
public import Files
public import Foundation
internal import Remotes
internal import Stores
public import SystemPackage

/// Copies the first of several directories that has a store to where there is no data yet.
///
/// It is a backup that is restored elsewhere and thrown away: the copy has all that a backup has, as of one
/// moment, applications may use the old stores meanwhile, and nothing is changed there.
public struct CopyStores: Sendable {
    /// The result of a copy.
    public struct Outcome: Sendable {
        /// The directory that was copied.
        public var source: FilePath
        public var files: Int
        /// Bytes in all files.
        public var bytes: Int64
        public var stores: Int
        /// Everything that could not be copied as it should; the copy is partial if there is any.
        public var problems: [Problem]
    }

    private let places: [FilePath]
    private let options: CreateBackup.Options
    private let context: OperationContext

    /// - Parameters:
    ///   - places: directories, the best first; one that is not there, or has no store, is passed over.
    ///   - date: when the copy is made.
    ///   - tool: the program's name and version.
    ///   - context: the world around.
    public init(from places: [FilePath], at date: Date, tool: String, context: OperationContext) {
        self.places = places
        options = CreateBackup.Options(date: date, tool: tool)
        self.context = context
    }

    /// Makes the copy.
    ///
    /// - Parameter target: a directory that is not there yet, or empty; it appears only once it is complete.
    /// - Returns: what was copied.
    /// - Throws: `CopyStoresError`; see `CreateBackup.run()` and `RestoreBackup.extract(_:to:)`.
    public func run(to target: FilePath) async throws -> Outcome {
        let parent = target.removingLastComponent().isEmpty ? "." : target.removingLastComponent()
        try RestoreBackup.refuseOccupied(target)
        let source = try firstWithStores()
        guard try !Self.future(parent).starts(with: source.path) else {
            throw CopyStoresError.inside(target, source.path)
        }
        try LocalFileSystem().createDirectories(parent)
        let scratch = try ScratchDirectory(in: parent)
        defer { withExtendedLifetime(scratch) {} }
        // Not itself: as the staging directory of the folder, it is locked once more.
        let folder = scratch.path.appending("Backup")
        try LocalFileSystem().createDirectory(folder)
        let outcome = try await copy(source, to: target, by: folder)
        context.tell(outcome.problems)
        return outcome
    }

    private func firstWithStores() throws -> StoresDirectory {
        for place in places {
            let directory: StoresDirectory
            do {
                directory = try StoresDirectory(place)
            } catch let error as FileError where error.isMissing {
                context.note("'\(printable(place))' is not there")
                continue
            }
            let survey = try directory.survey(isCancelled: context.checkCancellation)
            if !survey.stores.isEmpty { return directory }
            // An older place must not be taken for one that cannot be read.
            if let failure = survey.failures.first { throw failure.error }
            context.note("no store is in '\(printable(place))'")
        }
        throw CopyStoresError.noStore(places)
    }

    /// Returns the path that a directory will have once it is made, without symbolic links.
    private static func future(_ path: FilePath) throws -> FilePath {
        do {
            return try path.resolved()
        } catch let error as FileError where error.isMissing {
            guard let name = path.lastComponent else { throw error }
            let parent = path.removingLastComponent()
            return try future(parent.isEmpty ? "." : parent).appending(name)
        }
    }

    private func copy(
        _ source: StoresDirectory,
        to target: FilePath,
        by path: FilePath
    ) async throws -> Outcome {
        // Its notes are about a backup, of which nobody needs to know; problems are told at the end.
        var context = context
        context.report = { [report = context.report] event in
            switch event {
            case .note, .detail, .warning, .problem: break
            default: report(event)
            }
        }
        let folder = BackupFolder(
            LocalFolder(path),
            memory: BackupMemory(catalog: BackupCatalog(path.appending("catalog.json"))),
            timeZone: .gmt
        )
        let made = try await CreateBackup(
            of: source.path,
            to: folder,
            options: options,
            context: context
        ).run()
        let copied = try await RestoreBackup(
            from: folder,
            options: RestoreBackup.Options(backup: options),
            context: context
        ).extract(made.backup, to: target)
        // That the scratch archive is on the disk is not of interest, that the copy is.
        let problems =
            made.problems.filter { $0.kind != .notSynced }
            + copied.problems.filter { $0.kind == .notSynced }
        return Outcome(
            source: source.path,
            files: copied.files,
            bytes: copied.bytes,
            stores: copied.stores ?? 0,
            problems: problems
        )
    }
}

/// Why stores were not copied; nothing was changed.
public enum CopyStoresError: ExplainedError, Equatable {
    /// None of the places has a store.
    case noStore([FilePath])
    /// The copy would be in the directory that is copied.
    case inside(FilePath, FilePath)

    public var description: String {
        switch self {
        case .noStore(let places):
            "there is no store in \(places.map { "'\(printable($0))'" }.joined(separator: ", "))"
        case .inside(let target, let source):
            "'\(printable(target))' would be inside the directory that is copied, '\(printable(source))'"
        }
    }

    public var hint: String? {
        switch self {
        case .noStore: "is it the right directory?"
        case .inside: "name another directory"
        }
    }
}
