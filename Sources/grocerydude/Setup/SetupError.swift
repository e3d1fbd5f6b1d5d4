internal import Files

/// An error that keeps a setup from its answers, or from going on.
enum SetupError: ExplainedError {
    /// There is no terminal for the questions, and an option is missing.
    case noTerminal(missing: String)
    /// The input ended before the last question.
    case ended
    /// The input ended in the middle of the steps.
    case endedInside
    /// A question needs an answer.
    case noAnswer
    /// The answer is none of the choices.
    case noChoice(String, [String])
    case noSchedule(String)
    /// Backups would be put among other data.
    case otherData(String, name: String)
    /// The answer would have no effect, since the environment sets another value.
    case environment(variable: String, value: String)
    /// The copy of the key has other letters.
    case otherLetters

    var outcome: FailureOutcome {
        switch self {
        case .ended, .endedInside: .failed
        default: .usage
        }
    }

    var description: String {
        switch self {
        case .noTerminal(let option): "cannot ask: there is no terminal, and no '\(option)'"
        case .ended: "the answers ended before the last question: nothing was changed"
        case .endedInside: "there was no answer: the remaining steps were not done"
        case .noAnswer: "an answer is needed"
        case .noChoice(let text, let choices):
            "'\(printable(bytes: text.utf8))' is not one of \(choices.joined(separator: ", "))"
        case .noSchedule(let text):
            "'\(printable(bytes: text.utf8))' is not a schedule: use one such as \(Schedule.examples)"
        case .otherData(let address, let name):
            "'\(address)' has other data in it, such as '\(printable(bytes: name.utf8))'"
        case .environment(let variable, let value):
            "\(variable) is set to '\(printable(bytes: value.utf8))', and wins over the configuration"
        case .otherLetters: "those are not the last letters of the key"
        }
    }

    var hint: String? {
        switch self {
        case .noTerminal: Self.form
        case .ended: "run it again, or in one line: \(Self.form)"
        case .otherData(let address, _): "name a folder of its own, such as \(address)/Backups"
        case .environment(let variable, _): "run 'unset \(variable)'"
        case .otherLetters: "compare all of it with the page, or answer 'later'"
        case .endedInside, .noAnswer, .noChoice, .noSchedule: nil
        }
    }

    /// The setup in one line.
    private static let form =
        "grocerydude setup --stores DIR --remote FOLDER --encrypt --schedule 'daily 03:30' --keep month --yes"
}
