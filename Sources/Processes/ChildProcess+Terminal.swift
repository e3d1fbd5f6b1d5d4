internal import Subprocess

extension ChildProcess {
    /// Runs the program to its end on the terminal of this one, which it reads from and writes to.
    ///
    /// Its standard output goes to this process's standard error: what it says is no answer of ours.
    ///
    /// - Returns: how it ended.
    /// - Throws: `ProcessError`.
    public func runOnTerminal() async throws -> Ending {
        do {
            let result = try await Subprocess.run(
                configuration,
                input: .currentStandardInput,
                output: .currentStandardError,
                error: .currentStandardError
            )
            return Ending(result.terminationStatus)
        } catch let error as SubprocessError {
            throw processError(error)
        }
    }
}
