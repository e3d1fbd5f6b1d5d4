public import Files
internal import Stores
public import SystemPackage

/// A look at a directory before it is backed up for the first time; nothing in it is changed.
public struct StoresProbe: Sendable {
    /// The path without symbolic links.
    public var path: FilePath
    /// The paths of the stores; databases that may be encrypted are among them.
    public var stores: [String]
    /// The number of files, directories and links.
    public var files: Int
    /// The number of bytes in all regular files.
    public var size: Int64
    /// The processes that have a store open.
    public var users: [LockHolder]
    /// The facts that deserve a warning.
    public var warnings: [String]

    /// Looks at a directory.
    ///
    /// - Throws: `OperationError.noStores` if it is missing; `LinkError.noStore` if there is no store in it;
    ///   `FileError`; `CancellationError`.
    public init(of path: FilePath, _ context: OperationContext) throws {
        let directory = try StoresDirectory(existing: path)
        try context.refuseOwnDirectories(in: directory.path)
        let survey = try directory.survey(
            threads: context.threads,
            isCancelled: context.checkCancellation
        )
        let stores = survey.stores + survey.foreign
        guard !stores.isEmpty || survey.resemblesStore else { throw LinkError.noStore(path) }
        self.path = directory.path
        self.stores = stores.map(\.path.description)
        files = survey.fileCount
        size = survey.size
        users = Self.users(of: stores)
        warnings = Self.warnings(directory, survey)
    }

    private static func users(of stores: [Store]) -> [LockHolder] {
        let locking = stores.flatMap { (try? $0.users()) ?? [] }
        let opening = LockHolder.processes(using: Set(stores.map(\.identity))).map(\.holder)
        return (opening + locking).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static func warnings(
        _ directory: StoresDirectory,
        _ survey: StoresDirectory.Survey
    ) -> [String] {
        var warnings: [String] = []
        let name = printable(directory.path)
        if let around = SynchronisedFolder(around: directory.path) {
            warnings.append(around.warning(about: directory.path))
        }
        if directory.isMountPoint {
            warnings.append(
                "'\(name)' is a mount point: a restore needs room inside it, and does not happen in one step"
            )
        }
        if let failure = survey.failures.first {
            let count = counted(survey.failures.count, "file", "files")
            warnings.append(
                "\(count) in '\(name)' cannot be read, such as '\(failure.path)': \(explain(failure.error))"
            )
        }
        return warnings
    }
}
