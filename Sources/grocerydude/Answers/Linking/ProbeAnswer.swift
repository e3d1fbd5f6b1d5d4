internal import Operations
internal import Remotes

/// The results of probing whether a folder can hold backups.
struct ProbeAnswer: Answer, JSONConvertible {
    let outcome: ProbeFolder.Outcome
    let remote: String

    var json: JSONObject {
        let steps = outcome.findings.map { finding -> JSONObject in
            [
                "step": finding.step.rawValue, "state": Self.state(finding).word,
                "what": finding.what, "hint": finding.error.flatMap(Hint.after),
            ]
        }
        return [
            "remote": remote, "steps": steps, "account": outcome.facts.account,
            "space": outcome.facts.space,
        ]
    }

    /// Returns the result of a step, as a word for programs and as a mark for people.
    private static func state(_ finding: ProbeFolder.Finding) -> (word: String, mark: String) {
        finding.error != nil
            ? ("failed", "FAILED") : finding.isDoubtful ? ("doubtful", "DOUBTFUL") : ("good", "ok")
    }

    func write(to console: Console) {
        let rows = outcome.findings.map { [$0.step.rawValue, Self.state($0).mark, $0.what] }
        console.answer(columns: Columns(rows: rows))
    }
}
