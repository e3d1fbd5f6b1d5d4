internal import ArgumentParser
internal import Files
internal import Foundation

/// A command whose errors and exit code are handled in one place.
protocol ConsoleCommand: AsyncParsableCommand {
    /// The options of its output.
    var output: OutputOptions { get }

    /// Does the command's work.
    ///
    /// - Returns: the exit code, unless the answer is lost.
    func run(on console: Console) async throws -> ExitStatus
}

extension ConsoleCommand {
    /// Runs the command, prints its error, and exits with the matching code.
    ///
    /// - Throws: `ExitCode`, unless everything is done.
    func run() async throws {
        Interruption.install()
        // A umask that restricts the owner would create archives that this program cannot read.
        _ = umask(umask(0o777) & 0o077)
        let console = Console(output.style)
        let status: ExitStatus
        do {
            status = console.status(after: try await run(on: console))
        } catch {
            console.error(error)
            status = ExitStatus(error)
        }
        for path in ScratchDirectory.left {
            console.message("'\(printable(path))' could not be removed; the next run will do it")
        }
        if status != .done { throw ExitCode(status.rawValue) }
    }
}
