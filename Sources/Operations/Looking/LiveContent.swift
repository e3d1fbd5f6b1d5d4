public import Backups
internal import Files
public import Foundation
public import Stores
public import SystemPackage

/// The present content of a stores directory, listed as `ShowBackup` lists a backup; nothing in it is changed.
public struct LiveContent: Sendable {
    public let path: FilePath
    public let stores: [StoreFacts]
    public let problems: [Problem]
    public let files: [ShowBackup.File]

    /// The time to wait for a writer that blocks readers.
    private static let busyTimeout = Duration.seconds(5)

    /// Reads all stores as of one moment.
    ///
    /// - Parameters:
    ///   - stores: the stores directory.
    ///   - files: the columns of its stores that name files.
    ///   - path: the path to list, with all that is below it; `nil` for all.
    ///   - now: the current time.
    ///   - context: the context of the operation.
    /// - Throws: `LookingError.noFile` if there is nothing at that path; `OperationError.noStores`, `FileError`,
    ///   `StoreError.busy`, `CancellationError`.
    public init(
        of stores: FilePath,
        naming files: [ExternalFiles],
        at path: String? = nil,
        now: Date,
        _ context: OperationContext
    ) async throws {
        let directory = try StoresDirectory(existing: stores)
        var options = BackupOptions(date: now, tool: "")
        options.busyTimeout = Self.busyTimeout
        options.followsLinks = true
        let cut = try await BackupCut.make(
            of: directory,
            for: options,
            passingOver: { _ in false },
            context
        )
        let counting = StoreReports(
            of: cut.members,
            checking: .none,
            naming: files,
            context
        )
        defer { counting.close() }
        let reports = try counting.wait()
        let all = try cut.files(in: directory, leavingOut: .nothing, context)
        self.path = directory.path
        self.stores = reports.map(\.facts)
        problems = cut.knownProblems + Self.problems(of: cut, reports, in: directory)
        self.files = try path.map { try Self.files(at: $0, among: all, in: directory) } ?? all
    }

    private static func problems(
        of cut: BackupCut,
        _ reports: [StoreReport],
        in directory: StoresDirectory
    ) -> [Problem] {
        zip(cut.members, reports).flatMap { member, report in
            let path = member.store.path.description
            let damage = report.damage.map {
                let reason = "SQLite finds it damaged: \($0)"
                return Problem(kind: .damagedStore, path: path, reason: reason)
            }
            let missing = member.missingFiles(report, in: directory.path)
            return damage + missing.sorted().map { Problem(missing: $0) }
        }
    }

    private static func files(
        at path: String,
        among all: [ShowBackup.File],
        in directory: StoresDirectory
    ) throws -> [ShowBackup.File] {
        let wanted = NamedPaths([path])
        let files = all.filter { file in
            RelativePath(printed: file.path).flatMap(wanted.match) != nil
        }
        guard !files.isEmpty else {
            let place = "'\(printable(directory.path))'"
            throw LookingError.noFile(wanted.names[0], in: place, among: all.map(\.path))
        }
        return files
    }
}
