internal import Files

extension Hooks {
    /// What a `before` command exits with to say: not now.
    public static let skipCode: Int32 = 75

    /// Runs the commands of `before`, until one fails.
    ///
    /// - Throws: `OperationError.skipped` where one says so; `OperationError.commandFailed`;
    ///   `CancellationError`.
    func runBefore(
        _ surroundings: CommandSurroundings,
        _ context: OperationContext
    ) async throws {
        for line in commands[.before] ?? [] {
            do {
                try await command(line, .before, surroundings).run(context)
            } catch OperationError.commandFailed(_, _, .exited(Self.skipCode, _)) {
                throw OperationError.skipped(command: line)
            }
        }
    }

    /// Runs the commands for after a run: all of them, whatever becomes of one.
    ///
    /// None of them changes the run's result: what fails is told as a warning. Once the user wants to
    /// stop, be it before or in the middle, only those of `finally` are begun, and they are
    /// not asked again: a second signal ends the program and them.
    func runLater(
        _ moments: [Moment],
        _ surroundings: CommandSurroundings,
        _ context: OperationContext
    ) async {
        var context = context
        var isInterrupted = (try? context.checkCancellation()) == nil
        // What interrupted the run itself is no reason not to tell of it.
        var moments = moments
        if isInterrupted { context.checkCancellation = {} }
        while !moments.isEmpty {
            let moment = moments.removeFirst()
            for line in commands[moment] ?? [] {
                do {
                    try await command(line, moment, surroundings).run(context)
                } catch {
                    context.report(.warning(explain(error)))
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
        _ surroundings: CommandSurroundings
    ) -> UserCommand {
        UserCommand(
            line: line,
            event: moment.rawValue,
            surroundings: surroundings,
            timeout: timeout
        )
    }
}
