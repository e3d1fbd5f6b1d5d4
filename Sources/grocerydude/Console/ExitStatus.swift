internal import Files
internal import Operations

/// The program's exit code; a code above 128 contains the signal that ended it.
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

    /// The text about the codes in the program's help.
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

    /// Returns the code for an error.
    init(_ error: any Error) {
        var cause = error
        if case RestoreError.rolledBack(let reason, _) = error { cause = reason }
        if cause is CancellationError, Interruption.signalNumber != 0 {
            self = .signalled(Interruption.signalNumber)
            return
        }
        self =
            switch FailureOutcome(of: error) {
            case .failed: .failed
            case .partial: .partial
            case .notFound: .notFound
            case .locked: .locked
            case .password: .password
            case .damaged: .damaged
            case .restoreFailed: .restoreFailed
            case .rollbackFailed: .rollbackFailed
            case .noSpace: .noSpace
            case .inUse: .inUse
            case .needsDecision: .needsDecision
            case .usage: .usage
            case .skipped: .skipped
            }
    }

    /// The codes from best to worst; any other code is worse than all of them.
    private static let order: [ExitStatus] = [
        .done, .skipped, .partial, .tooOld, .damaged, .locked, .notFound, .password, .inUse,
        .needsDecision, .usage, .failed, .noSpace, .restoreFailed, .rollbackFailed,
    ]

    /// Returns the worse code of two runs.
    static func worse(_ first: ExitStatus, _ second: ExitStatus) -> ExitStatus {
        let ranks = [first, second].map { order.firstIndex(of: $0) ?? order.count }
        return ranks[1] > ranks[0] ? second : first
    }
}
