internal import Backups
internal import Files
internal import Foundation
internal import Operations

/// An answer, and what is to be said after it.
struct Sight {
    var answer: any Answer
    var remarks: [OperationEvent] = []
    /// Backups that could not be looked into.
    var problems: [Problem] = []
    /// The reason that the answer has only what waits on this machine.
    var unreachable: (any Error)?
}

extension Invocation {
    /// A run's end is in the log a moment after its last change of the folder.
    private static let afterthought = Duration.seconds(1)

    /// Answers, and answers again whenever the answer has become another one, until a signal ends it.
    ///
    /// A failure of the first look ends it; a later one is told, since the folder may come back.
    ///
    /// - Parameters:
    ///   - options: how often to look if nothing is known to have changed.
    ///   - look: takes a look, as a run that begins at that moment.
    /// - Returns: the signal's exit code.
    /// - Throws: what the first look throws.
    func watch(
        _ options: WatchOptions,
        _ look: (Invocation) async throws -> Sight
    ) async throws -> CommandResult {
        var shown: String?
        var limit = options.pace
        do {
            while true {
                // It begins before the look, so that no change falls between the two.
                let watch = FolderWatch(of: try folder())
                let now = Invocation(profile, output, console)
                let (text, show) = await now.sight(look)
                if let error = show.error, shown == nil { throw error }
                if text != shown { try present(show, isFirst: shown == nil) }
                shown = text
                try? await now.memory.catalog.save()
                if console.isAnswerLost { return CommandResult(.done) }
                let isChanged = try watch.wait(
                    atMost: limit,
                    checkCancellation: Interruption.check
                )
                limit = isChanged ? Self.afterthought : options.pace
            }
        } catch is CancellationError where Interruption.signalNumber != 0 {
            return CommandResult(.signalled(Interruption.signalNumber))
        }
    }

    private enum Seen {
        case sight(Sight)
        case failure(any Error)

        var error: (any Error)? {
            if case .failure(let error) = self { error } else { nil }
        }
    }

    /// Takes a look.
    ///
    /// - Returns: the sight, and a text that is another only if the state is another: an age and free space are not.
    private func sight(
        _ look: (Invocation) async throws -> Sight
    ) async -> (text: String, seen: Seen) {
        do {
            let sight = try await look(self)
            let json = try Console.json(sight.answer)
            return (json.replacing(#/"(age_seconds|free|used)":[^,}]*/#, with: ""), .sight(sight))
        } catch {
            return ("error: \(explain(error))", .failure(error))
        }
    }

    private func present(_ seen: Seen, isFirst: Bool) throws {
        switch seen {
        case .failure(let error): console.error(error)
        case .sight(let sight):
            // Home, and wipe what is below (https://vt100.net/docs/vt510-rm/ED.html).
            if console.redraws {
                console.answer(text: "\u{1B}[H\u{1B}[2J")
            } else if !isFirst, !output.json {
                console.answer(text: "\n")
            }
            try console.answer(sight.answer)
            for remark in sight.remarks { console.show(remark) }
        }
    }
}
