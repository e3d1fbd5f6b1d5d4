public import Backups
public import Files
public import Foundation
internal import Remotes
internal import Stores
public import SystemPackage

/// Copies the first of several directories that contains a store, to a place without data.
///
/// It makes a temporary backup and restores it elsewhere. So the copy has everything that a backup has, as of one
/// moment. Applications may use the old stores meanwhile, and nothing in the source changes.
public struct CopyStores: Sendable {
    /// The result of a copy.
    public struct Outcome: Sendable {
        /// The copied directory.
        public var source: FilePath
        public var files: Int
        /// The total size of all files in bytes.
        public var bytes: Int64
        public var stores: Int
        /// The problems with the copy; it is partial if there are any.
        public var problems: [Problem]
    }

    private let places: [FilePath]
    private let options: CreateBackup.Options
    private let context: OperationContext

    /// - Parameters:
    ///   - places: the directories, the best first; missing ones, and ones without a store, are skipped.
    ///   - date: the time of the copy.
    ///   - tool: the program's name and version.
    ///   - context: the context of the operation.
    public init(from places: [FilePath], at date: Date, tool: String, context: OperationContext) {
        self.places = places
        options = CreateBackup.Options(date: date, tool: tool)
        self.context = context
    }

    /// Makes the copy.
    ///
    /// - Parameter target: a missing or empty directory; it appears only when it is complete.
    /// - Returns: the outcome.
    /// - Throws: `CopyStoresError`; see `CreateBackup.run()` and `RestoreBackup.extract(_:to:)`.
    public func run(to target: FilePath) async throws -> Outcome {
        let parent = try ExtractTarget(target).parent
        let source = try firstWithStores()
        guard try !Self.future(parent).starts(with: source.path) else {
            throw CopyStoresError.inside(target, source.path)
        }
        try LocalFileSystem().createDirectories(parent)
        let scratch = try ScratchDirectory(in: parent)
        defer { withExtendedLifetime(scratch) {} }
        // Use a subdirectory: as the staging directory of the folder, it is locked again.
        let folder = scratch.path.appending("Backup")
        try LocalFileSystem().createDirectory(folder)
        let outcome = try await copy(source, to: target, by: folder)
        context.reportProblems(outcome.problems)
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
            // If a directory cannot be read, do not silently use an older one.
            if let failure = survey.failures.first { throw failure.error }
            context.note("no store is in '\(printable(place))'")
        }
        throw CopyStoresError.noStore(places)
    }

    /// Returns the path that a directory will have once it is created, without symbolic links.
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
        // The notes are about a temporary backup, which does not matter to the user; problems are reported at the end.
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
            timeZone: .utc
        )
        let made = try await CreateBackup(
            of: source.path,
            to: folder,
            options: options,
            context: context
        ).run()
        let copied: RestoreBackup.Outcome
        do {
            copied = try await RestoreBackup(
                from: folder,
                options: RestoreBackup.Options(backup: options),
                context: context
            ).extract(made.backup, to: target)
        } catch RestoreError.restoreFailed(let error) {
            guard error.reportsDamage else { throw error }
            throw CopyStoresError.damaged(source.path, reason: explain(error))
        }
        // The temporary archive need not be on the disk, but the copy must.
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

/// An error that keeps stores from being copied; nothing was changed.
public enum CopyStoresError: ExplainedError, Equatable {
    /// None of the directories has a store.
    case noStore([FilePath])
    /// The copy would be inside the source directory.
    case inside(FilePath, FilePath)
    /// A store in the source directory is damaged.
    case damaged(FilePath, reason: String)

    public var outcome: FailureOutcome {
        if case .damaged = self { .damaged } else { .failed }
    }

    public var description: String {
        switch self {
        case .noStore(let places):
            "there is no store in \(places.map { "'\(printable($0))'" }.joined(separator: ", "))"
        case .inside(let target, let source):
            "'\(printable(target))' would be inside the directory that is copied, '\(printable(source))'"
        case .damaged(let source, let reason):
            "nothing was copied from '\(printable(source))': \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .noStore: "is it the right directory?"
        case .inside: "name another directory with '--stores'"
        case .damaged:
            "name an older place, or repair it there: https://www.sqlite.org/recovery.html"
        }
    }
}
