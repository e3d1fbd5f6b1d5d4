internal import Archives
internal import Files
internal import Operations
internal import Remotes
internal import Stores

/// What the program's exit code says.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case partial = 3
    case notFound = 10
    case locked = 11
    case password = 12
    case usage = 64
    case damaged = 20
    case restoreFailed = 21
    case rollbackFailed = 22
    case noSpace = 23
    case inUse = 24
    case tooOld = 25
    case skipped = 75

    /// For the help of every command.
    static let help = """
        EXIT CODES
          0   done
          1   failed, nothing changed
          3   done in part
          10  no such remote folder or backup
          11  locked by another run
          12  wrong or missing password
          20  a check found damage
          21  restore failed, the stores are as they were
          22  restore failed and could not be rolled back
          23  no space
          24  the stores are in use
          25  the newest backup is too old, or there is none
          64  usage
          75  skipped for now, by a hook
          129, 130, 143  interrupted
          141  done, and nobody read the answer
        """

    /// The code for an error.
    init(_ error: any Error) {
        switch error {
        case let error as OperationError: self.init(error)
        case let error as RestoreError: self.init(error)
        case let error as FileError: self.init(error)
        case let error as RemoteError: self.init(error)
        case let error as StoreError: self.init(error)
        case ArchiveError.encrypted: self = .password
        case CommandError.answerLost: self = .partial
        case is CommandError, is ConfigurationError, is UsageError: self = .usage
        default: self = .failed
        }
    }

    /// From the best to the worst; what is not here is worse than all.
    private static let order: [Int32] = [0, 75, 3, 25, 20, 11, 10, 12, 24, 64, 1, 23, 21, 22]

    /// The code of two runs that tells of the greater trouble.
    static func worse(_ first: Int32, _ second: Int32) -> Int32 {
        let ranks = [first, second].map { order.firstIndex(of: $0) ?? order.count }
        return ranks[1] > ranks[0] ? second : first
    }

    private init(_ error: OperationError) {
        switch error {
        case .noBackup, .noBackups, .ambiguous, .notInTrash: self = .notFound
        case .keepsNothing: self = .usage
        case .skipped: self = .skipped
        case .backupFailed(let cause): self.init(failed: cause)
        case .noStores, .nothingToBackUp, .badManifest, .newerFormat, .beyondLimit,
            .remoteInsideStores, .badAnnotations, .nameTaken, .pinned, .commandFailed,
            .pingFailed:
            self = .failed
        }
    }

    private init(_ error: RestoreError) {
        switch error {
        case .storesInUse: self = .inUse
        case .tooLarge: self = .noSpace
        case .rollbackFailed, .cannotRecover, .newerJournal: self = .rollbackFailed
        case .refusedInUse(_, _, _, let error), .unsettled(_, _, let error):
            self = Self.unsettled(by: error)
        case .rolledBack, .inTheWay: self = .restoreFailed
        case .safetyBackupFailed(let cause): self.init(failed: cause)
        case .restoreFailed(let cause):
            // Space, locks and passwords have codes of their own; all else is "as they were".
            let inner = ExitStatus(cause)
            self = [.noSpace, .locked, .password, .inUse].contains(inner) ? inner : .restoreFailed
        case .targetNotEmpty, .mountInside, .storesLost: self = .failed
        }
    }

    /// The code for why a backup failed.
    private init(failed cause: any Error) {
        if case RemoteError.notSynced(_, _, let error) = cause {
            // It was not done after all.
            self.init(error)
        } else {
            self.init(cause)
        }
    }

    /// The code for what keeps an interrupted restore from being finished or undone.
    private static func unsettled(by error: any Error) -> ExitStatus {
        if case StoreError.neverStill = error { return .inUse }
        let inner = ExitStatus(error)
        return [.inUse, .noSpace].contains(inner) ? inner : .rollbackFailed
    }

    private init(_ error: FileError) {
        if case .locked = error {
            self = .locked
        } else {
            self = error.isNoSpace ? .noSpace : .failed
        }
    }

    private init(_ error: RemoteError) {
        switch error {
        case .missing, .notAFolder, .noFile: self = .notFound
        case .exists, .notASubfolder, .rclone, .noRclone: self = .failed
        case .notSynced: self = .partial
        }
    }

    private init(_ error: StoreError) {
        if case .busy = error { self = .inUse } else { self = .failed }
    }
}
