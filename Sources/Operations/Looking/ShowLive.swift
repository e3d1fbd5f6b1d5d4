public import Backups
internal import Files
public import Foundation
public import Stores
public import SystemPackage

/// Lists what is in the stores directory now, as `ShowBackup` lists a backup; nothing in it is changed.
public struct ShowLive: Sendable {
    /// The content of the stores directory.
    public struct Outcome: Sendable {
        public var path: FilePath
        public var stores: [StoreFacts]
        public var problems: [Problem]
        public var files: [ShowBackup.File]
    }

    /// The time to wait for a writer that blocks readers.
    private static let busyTimeout = Duration.seconds(5)

    private let stores: FilePath
    private let externalFiles: [ExternalFiles]
    private let context: OperationContext

    /// Creates the operation for a stores directory, with the columns of its stores that name files.
    public init(_ stores: FilePath, naming files: [ExternalFiles], context: OperationContext) {
        self.stores = stores
        externalFiles = files
        self.context = context
    }

    /// Reads all stores as of one moment.
    ///
    /// - Parameters:
    ///   - path: the path to list, with all that is below it; `nil` for all.
    ///   - now: the current time.
    /// - Returns: the content.
    /// - Throws: `LookingError.noFile` if there is nothing at that path; `OperationError.noStores`, `FileError`,
    ///   `StoreError.busy`, `CancellationError`.
    public func run(path: String? = nil, now: Date) async throws -> Outcome {
        let directory = try StoresDirectory(backingUp: stores)
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
            naming: externalFiles,
            context
        )
        defer { counting.close() }
        let reports = try counting.wait()
        let all = try cut.files(in: directory, leavingOut: .nothing, context)
        return Outcome(
            path: directory.path,
            stores: reports.map(\.facts),
            problems: cut.knownProblems + problems(of: cut, reports, in: directory),
            files: try path.map { try Self.files(at: $0, among: all, in: directory) } ?? all
        )
    }

    private func problems(
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
