public import Files
internal import Stores
public import SystemPackage

/// A look at a directory before it is backed up for the first time; nothing in it is changed.
public struct ProbeStores: Sendable {
    /// The contents of the directory, and its users.
    public struct Outcome: Sendable {
        /// The path without symbolic links.
        public var path: FilePath
        /// The paths of the stores; databases that may be encrypted are among them.
        public var stores: [String] = []
        /// The number of files, directories and links.
        public var files = 0
        /// The number of bytes in all regular files.
        public var size: Int64 = 0
        /// The processes that have a store open.
        public var users: [LockHolder] = []
        /// The facts that deserve a warning.
        public var warnings: [String] = []
    }

    private let path: FilePath
    private let context: OperationContext

    public init(_ path: FilePath, context: OperationContext) {
        self.path = path
        self.context = context
    }

    /// Looks at the directory.
    ///
    /// - Throws: `OperationError.noStores` if it is missing; `LinkError.noStore` if there is no store in it;
    ///   `FileError`; `CancellationError`.
    public func run() throws -> Outcome {
        let directory: StoresDirectory
        do {
            directory = try StoresDirectory(path)
        } catch let error as FileError where error.isMissing {
            throw OperationError.noStores(path)
        }
        try context.refuseOwnDirectories(in: directory.path)
        let survey = try directory.survey(
            threads: context.threads,
            isCancelled: context.checkCancellation
        )
        let stores = survey.stores + survey.foreign
        guard !stores.isEmpty || survey.resemblesStore else { throw LinkError.noStore(path) }
        var outcome = Outcome(path: directory.path)
        outcome.stores = stores.map(\.path.description)
        outcome.files = survey.fileCount
        outcome.size = survey.size
        outcome.users = Self.users(of: stores)
        outcome.warnings = warnings(directory, survey)
        return outcome
    }

    private static func users(of stores: [Store]) -> [LockHolder] {
        let locking = stores.flatMap { (try? $0.users()) ?? [] }
        let opening = LockHolder.processes(using: Set(stores.map(\.identity))).map(\.holder)
        return (opening + locking).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private func warnings(
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
