internal import Operations
internal import Remotes

/// The results of probing whether a folder can hold backups.
struct ProbeAnswer: Answer {
    struct Step: Encodable {
        var step: String
        /// The result: `good`, `doubtful` or `failed`.
        var state: String
        var what: String
        var hint: String?
    }

    var remote: String
    var steps: [Step]
    var account: String?
    var space: RemoteSpace?

    init(_ outcome: ProbeFolder.Outcome, of remote: String) {
        self.remote = remote
        account = outcome.facts.account
        space = outcome.facts.space
        steps = outcome.findings.map { finding in
            Step(
                step: finding.step.rawValue,
                state: finding.error != nil ? "failed" : finding.isDoubtful ? "doubtful" : "good",
                what: finding.what,
                hint: finding.error.flatMap(Hint.after)
            )
        }
    }

    func write(to console: Console) {
        let marks = ["good": "ok", "doubtful": "DOUBTFUL", "failed": "FAILED"]
        let rows = steps.map { [$0.step, marks[$0.state] ?? $0.state, $0.what] }
        console.answer(columns: Columns(rows: rows))
    }
}
