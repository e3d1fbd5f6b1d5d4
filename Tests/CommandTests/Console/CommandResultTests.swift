import Backups
import Archives
import Files
import Operations
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

@Suite("A command's result")
struct CommandResultTests {
    private let problem = Problem(kind: .unreadable, path: "a.sqlite", reason: "no")

    @Test("A result is complete, or partial with problems, and the first problem is its message")
    func problems() {
        #expect(CommandResult(problems: []).status == .done)
        #expect(CommandResult(problems: []).message == nil)
        let partial = CommandResult(problems: [problem, problem])
        #expect(partial.status == .partial && partial.exitCode == 3)
        #expect(partial.message == "2 problems: 'a.sqlite': no")
    }

    @Test("A result keeps what was done before an error, and has the error's code and message")
    func failure() {
        let invocation = Invocation(Profile(), Console(OutputStyle(json: false, quiet: true)))
        var before = CommandResult(.done, bytes: 7)
        before.backup = "a Stores.zip"
        let result = invocation.failure(BackupFolderError.noBackups("x"), after: before)
        #expect(result.status == .notFound && result.backup == "a Stores.zip")
        #expect(result.bytes == 7 && result.message == "there is no backup in 'x'")
        #expect(invocation.failure(HookError.skipped(command: "exit 75")).status == .skipped)
    }

    @Test("A result after a person's refusal is a failure without a message")
    func declined() {
        #expect(CommandResult.declined.isDeclined && CommandResult.declined.status == .failed)
        #expect(!CommandResult(.failed).isDeclined)
    }

    @Test("A result of two codes has the worse one")
    func worst() {
        func worse(_ first: Int32, _ second: Int32) -> Int32 {
            ExitStatus.worse(ExitStatus(rawValue: first), ExitStatus(rawValue: second)).rawValue
        }
        #expect(worse(0, 75) == 75)
        #expect(worse(3, 75) == 3)
        #expect(worse(3, 1) == 1)
        #expect(worse(22, 1) == 22)
        #expect(worse(11, 130) == 130)
        #expect(worse(0, 0) == 0)
    }

    @Test(
        "A result has the code of the error that ended the command",
        arguments: [
            (BackupFolderError.noBackups("x"), 10), (HookError.skipped(command: "x"), 75),
            (HookError.commandFailed(event: "before", command: "x", .signalled(9)), 1),
            (HookError.pingFailed(host: "x", reason: "y"), 1), (CommandError.noTerminal, 64),
            (ArchiveError.encrypted("x", entry: "y"), 12), (RemoteError.missing("x"), 10),
            (RestoreError.restoreFailed(ArchiveError.encrypted("x", entry: "y")), 12),
            (RestoreError.rolledBack(RemoteError.missing("x"), refused: "y"), 21),
        ] as [(any Error & Sendable, Int32)]
    )
    func codes(_ error: any Error & Sendable, _ code: Int32) {
        #expect(ExitStatus(error).rawValue == code)
    }
}
