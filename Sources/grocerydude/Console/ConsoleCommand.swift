internal import ArgumentParser
internal import Files
internal import Foundation

/// A command whose errors are told, and whose exit code is set, in one place.
protocol ConsoleCommand: AsyncParsableCommand {
    /// How the command speaks.
    var output: OutputOptions { get }

    /// Does the command's work.
    ///
    /// - Returns: the exit code, unless the answer gets lost.
    func run(on console: Console) async throws -> ExitStatus
}

extension ConsoleCommand {
    /// Runs the command, prints the error that ends it, and exits with the code for it.
    ///
    /// - Throws: `ExitCode`, unless all is done.
    func run() async throws {
        Interruption.install()
        // A umask that takes rights from the owner would make archives that we cannot read again.
        _ = umask(umask(0o777) & 0o077)
        let console = Console(output)
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
