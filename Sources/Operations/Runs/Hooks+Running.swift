internal import Files

extension Hooks {
    /// The exit code by which a `before` command says: not now.
    public static let skipCode: Int32 = 75

    /// Runs the commands of `before`, until one fails.
    ///
    /// - Throws: `HookError.skipped` if one exits with 75; `HookError.commandFailed`;
    ///   `CancellationError`.
    func runBefore(
        _ environment: CommandEnvironment,
        _ context: OperationContext
    ) async throws {
        for line in commands[.before] ?? [] {
            do {
                try await command(line, .before, environment).run(context)
            } catch HookError.commandFailed(_, _, .exited(Self.skipCode, _)) {
                throw HookError.skipped(command: line)
            }
        }
    }

    /// Runs the commands for after a run: all of them, whatever becomes of one.
    ///
    /// None of them changes the run's result: a failure is reported as a warning. Once the user wants
    /// to stop, only those of `finally` are begun, and they are not asked again: a second signal ends
    /// the program and them.
    func runLater(
        _ moments: [Moment],
        _ environment: CommandEnvironment,
        _ context: OperationContext
    ) async {
        var context = context
        var isInterrupted = (try? context.checkCancellation()) == nil
        // An interrupted run is told of, too.
        var moments = moments
        if isInterrupted { context.checkCancellation = {} }
        while !moments.isEmpty {
            let moment = moments.removeFirst()
            for line in commands[moment] ?? [] {
                do {
                    try await command(line, moment, environment).run(context)
                } catch {
                    context.warn(explain(error))
                    guard error is CancellationError, !isInterrupted else { continue }
                    isInterrupted = true
                    context.checkCancellation = {}
                    moments.removeAll { $0 != .finally }
                    if moment != .finally { break }
                }
            }
        }
    }

    private func command(
        _ line: String,
        _ moment: Moment,
        _ environment: CommandEnvironment
    ) -> UserCommand {
        UserCommand(line: line, event: moment.rawValue, environment: environment, timeout: timeout)
    }
}
