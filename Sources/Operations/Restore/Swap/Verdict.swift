internal import Files
internal import Stores
internal import SystemPackage

/// Whether data stays that a restore has put in place, or begun to.
enum Verdict {
    /// It is good, and stays.
    case keep
    /// It has to go, and what was there comes back: why, unless that was decided before a crash.
    case rollBack(why: (any Error)?)
    /// It cannot be told, or not be done, for now: all stays as it is.
    case undecided(why: any Error)

    /// The data that is judged.
    enum Subject {
        /// All of it is in place.
        case inPlace
        /// Some of it is, and this is why the rest is not.
        case halfInPlace(any Error)
        /// It was found before that it has to go.
        case refused
    }

    /// Judges the data of the restore that a restore journal tells of.
    typealias Judge = (RestoreJournal, Subject) -> Verdict
}

extension Verdict {
    /// Judges in the run that put the data in place, while nobody uses it: data that fails has to go.
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

    /// Judges after a crash: applications may have opened the stores since.
    ///
    /// Only stores that are damaged or lost have to go. No other failure says anything of them.
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
            // Somebody else's file is in the way, which has words of its own.
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

    /// Takes nothing out of its place that is in use.
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
