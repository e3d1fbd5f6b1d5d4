internal import Files
internal import Stores
internal import SystemPackage

/// A decision whether data that a restore has put in place, at least partly, stays there.
enum Verdict {
    /// The data is good, and stays.
    case keep
    /// The data must be removed, and the previous data comes back; `why` is `nil` if that was decided before a crash.
    case rollBack(why: (any Error)?)
    /// The decision is not possible now, or cannot be carried out; everything stays as it is.
    case undecided(why: any Error)

    /// The state of the data to decide on.
    enum Subject {
        /// All of the data is in place.
        case inPlace
        /// Only some of the data is in place; the error is the reason.
        case halfInPlace(any Error)
        /// The data was already refused.
        case refused
    }

    /// A function that judges the data of the restore in a restore journal.
    typealias Judge = (RestoreJournal, Subject) -> Verdict
}

extension Verdict {
    /// Judges in the run that put the data in place, while nobody uses it: data that fails the check is removed.
    static func inSameRun(_ subject: Subject, check: () throws -> Void) -> Verdict {
        switch subject {
        case .refused: return .rollBack(why: nil)
        case .halfInPlace(let error): return .rollBack(why: error)
        case .inPlace:
            do {
                try check()
                return .keep
            } catch {
                return .rollBack(why: error)
            }
        }
    }

    /// Judges after a crash, when applications may have opened the stores.
    ///
    /// Only damaged or lost stores are removed. Other failures prove nothing about the stores.
    static func afterCrash(
        _ subject: Subject,
        _ journal: RestoreJournal,
        in live: FilePath,
        _ context: OperationContext
    ) -> Verdict {
        do {
            var refusal: (any Error)?
            switch subject {
            case .refused: break
            // Another program's file is in the way; `recover` reports it with an error of its own.
            case .halfInPlace(let error as FileError) where error.isTaken:
                return .undecided(why: error)
            case .halfInPlace(let error): throw error
            case .inPlace:
                refusal = try StoresDirectory(live).refusalUnderUse(journal, context)
                if refusal == nil { return .keep }
            }
            return try afterCrash(refusing: refusal, journal, in: live)
        } catch {
            return .undecided(why: RestoreError.unsettled(backup: journal.backup, live, error))
        }
    }

    /// Refuses to remove data that is in use.
    private static func afterCrash(
        refusing refusal: (any Error)?,
        _ journal: RestoreJournal,
        in live: FilePath
    ) throws -> Verdict {
        do {
            try StoresDirectory(live).refuseIfAnyFileIsInUse(of: journal.part)
            return .rollBack(why: refusal)
        } catch let use as RestoreError {
            let backup = journal.backup
            return .undecided(
                why: RestoreError.refusedInUse(backup: backup, live, refusal: refusal, use: use)
            )
        }
    }
}

extension FileError {
    fileprivate var isTaken: Bool { if case .exists = self { true } else { false } }
}
