internal import Age
internal import History
internal import Backups
internal import Archives
internal import Files
internal import Operations
internal import Remotes
internal import Stores
internal import Sync

/// The program's exit code; one above 128 names the signal that ended it.
struct ExitStatus: RawRepresentable, Equatable {
    let rawValue: Int32

    init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    static let done = ExitStatus(rawValue: 0)
    static let failed = ExitStatus(rawValue: 1)
    static let partial = ExitStatus(rawValue: 3)
    static let notFound = ExitStatus(rawValue: 10)
    static let locked = ExitStatus(rawValue: 11)
    static let password = ExitStatus(rawValue: 12)
    static let damaged = ExitStatus(rawValue: 20)
    static let restoreFailed = ExitStatus(rawValue: 21)
    static let rollbackFailed = ExitStatus(rawValue: 22)
    static let noSpace = ExitStatus(rawValue: 23)
    static let inUse = ExitStatus(rawValue: 24)
    static let tooOld = ExitStatus(rawValue: 25)
    static let needsDecision = ExitStatus(rawValue: 26)
    static let usage = ExitStatus(rawValue: 64)
    static let skipped = ExitStatus(rawValue: 75)

    static func signalled(_ number: Int32) -> ExitStatus { ExitStatus(rawValue: 128 + number) }

    /// The codes, for the program's own help.
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
          25  the newest good backup is too old, or there is none
          26  sync needs a decision, nothing was exchanged
          64  usage
          75  skipped for now, by a hook
          129, 130, 143  interrupted
          141  done, and nobody read the answer
        """

    /// The code for an error.
    init(_ error: any Error) {
        var cause = error
        if case RestoreError.rolledBack(let reason, _) = error { cause = reason }
        if cause is CancellationError, Interruption.signalNumber != 0 {
            self = .signalled(Interruption.signalNumber)
            return
        }
        switch error {
        case let error as OperationError: self.init(error)
        case let error as RestoreError: self.init(error)
        case LinkError.notConfigured: self = .notFound
        case let error as LinkError: self = error.cause.map(ExitStatus.init) ?? .failed
        case let error as BackupFolderError: self.init(error)
        case let error as FileError: self.init(error)
        case let error as RemoteError: self.init(error)
        case let error as StoreError: self.init(error)
        case let error as MovingError: self.init(error)
        case let error as LookingError: self.init(error)
        case let error as SyncError: self.init(error)
        case is SyncDecision: self = .needsDecision
        case SidecarError.damaged: self = .damaged
        case SidecarError.noSpace: self = .noSpace
        case OutboxError.full(_, _, _, let cause): self.init(cause)
        case HookError.skipped: self = .skipped
        case HistoryError.busy: self = .locked
        case ArchiveError.encrypted: self = .password
        case let error as AgeError: self.init(error)
        case KeyError.exists, KeyError.noRecipients: self = .failed
        case is KeyError: self = .password
        case CommandError.answerLost: self = .partial
        case CommandError.tooFewThreads, CommandError.alreadyLinked, CommandError.sharesDefault,
            CommandError.badMap:
            self = .failed
        case is CommandError, is ConfigurationError, is UsageError: self = .usage
        default: self = .failed
        }
    }

    /// From the best to the worst; any other code is worse than all.
    private static let order: [ExitStatus] = [
        .done, .skipped, .partial, .tooOld, .damaged, .locked, .notFound, .password, .inUse,
        .needsDecision, .usage, .failed, .noSpace, .restoreFailed, .rollbackFailed,
    ]

    /// Returns the code of two runs that tells of the greater trouble.
    static func worse(_ first: ExitStatus, _ second: ExitStatus) -> ExitStatus {
        let ranks = [first, second].map { order.firstIndex(of: $0) ?? order.count }
        return ranks[1] > ranks[0] ? second : first
    }

    private init(_ error: OperationError) {
        switch error {
        case .keepsNothing: self = .usage
        case .noSpace: self = .noSpace
        // It was not done after all.
        case .backupFailed(RemoteError.notSynced(_, _, let error)): self.init(error)
        case .backupFailed(let cause): self.init(cause)
        case .noStores, .nothingToBackUp, .everyStoreLeftOut, .remoteInsideStores: self = .failed
        }
    }

    private init(_ error: RestoreError) {
        switch error {
        case .storesInUse: self = .inUse
        case .tooLarge: self = .noSpace
        case .rollbackFailed, .cannotRecover, .newerJournal: self = .rollbackFailed
        case .refusedInUse(_, _, _, let use): self = Self.unsettled(by: use)
        case .unsettled(_, _, let error): self = Self.unsettled(by: error)
        case .rolledBack, .inTheWay, .noStores, .notStripped, .cannotKeep: self = .restoreFailed
        // It was not done after all.
        case .safetyBackupFailed(RemoteError.notSynced(_, _, let error)): self.init(error)
        case .safetyBackupFailed(let cause): self.init(cause)
        case .restoreFailed(let cause):
            // Space, locks, passwords and encrypted parts that are not as they were written have codes of their
            // own; all else is "as they were".
            let inner = ExitStatus(cause)
            let isKnown =
                [.noSpace, .locked, .password, .inUse].contains(inner) || cause is AgeError
            self = isKnown ? inner : .restoreFailed
        case .targetNotEmpty, .mountInside, .storesLost, .declined: self = .failed
        }
    }

    private init(_ error: BackupFolderError) {
        switch error {
        case .noBackup, .noBackups, .onlySafetyBackups, .nothingToUndo, .ambiguous, .notInTrash,
            .missingNeed, .noneUntil, .undoneElsewhere, .unknownUndo:
            self = .notFound
        case .badAnnotations, .nameTaken, .taken, .pinned, .notReady, .needed, .perhapsNeeded:
            self = .failed
        case .noSpace: self = .noSpace
        }
    }

    /// Returns the code for an error that keeps an interrupted restore from being finished or undone.
    private static func unsettled(by error: any Error) -> ExitStatus {
        if case StoreError.neverStill = error { return .inUse }
        let inner = ExitStatus(error)
        return [.inUse, .noSpace].contains(inner) ? inner : .rollbackFailed
    }

    private init(_ error: AgeError) {
        self = error.isOfKeys ? .password : error.isDamage ? .damaged : .usage
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
        case .missing, .notAFolder, .noFile, .noRemote: self = .notFound
        case .exists, .notASubfolder, .rclone, .noRclone, .unreachable, .stalled, .unsure,
            .readOnly:
            self = .failed
        case .unauthorized: self = .password
        case .noSpace: self = .noSpace
        case .notSynced: self = .partial
        }
    }

    private init(_ error: MovingError) {
        switch error {
        case .damaged, .notImported: self = .damaged
        case .lacksNeed, .needsTrashed: self = .notFound
        case .sameFolder: self = .usage
        case .readBackDiffers, .notTried: self = .failed
        }
    }

    private init(_ error: LookingError) {
        switch error {
        case .damaged: self = .damaged
        case .severalStores, .badCondition: self = .usage
        case .noFile, .notAFile, .noStore, .noStores, .notAStore, .noTable, .noColumn,
            .notOfRows, .subentity:
            self = .failed
        }
    }

    private init(_ error: SyncError) {
        switch error {
        case .noContainer, .containerIsNoFolder: self = .notFound
        case .cutOff(let cause, _):
            // Space and passwords have codes of their own; all else keeps the container from being reached.
            let inner = ExitStatus(cause)
            self = error.isOfAbsence || inner == .failed ? .notFound : inner
        case .noStoreAnyMore, .damagedStore: self = .damaged
        case .openStore, .storeInUse: self = .inUse
        case .lockedStores: self = .locked
        case .unreadFiles, .newerFiles: self = .partial
        case .noContainerNamed, .severalStores, .badGroup: self = .usage
        case .noStore, .noStores, .notEnabled, .alreadyEnabled, .refused, .nothingToSync, .noTable,
            .containerInsideStores, .storesInsideContainer, .synchronisedFolder, .nothingBefore,
            .noConflict, .noDevice, .storeGone, .unreadableStore, .otherMap, .readOnlyStore,
            .groupOfOther:
            self = .failed
        }
    }

    private init(_ error: StoreError) {
        switch error {
        case .busy, .busyWriting: self = .inUse
        case .damagedPage: self = .damaged
        case .noSpace: self = .noSpace
        case .damaged, .unreadable, .unwritable, .neverStill: self = .failed
        }
    }
}
