internal import Backups
internal import Files
internal import Foundation
internal import Operations

/// An answer, and the remarks after it.
struct Sight {
    /// A line for people before the answer.
    var opening: String?
    var answer: any Answer
    var remarks: [OperationEvent] = []
    /// The backups that could not be inspected.
    var problems: [Problem] = []
    /// The error if the folder is unreachable, so that the answer has only waiting backups.
    var unreachable: (any Error)?
}

/// A command's answer that is repeated whenever it changes.
struct SightWatch {
    private let invocation: Invocation
    private var console: Console { invocation.console }

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// The delay for a run's log entry, which follows its last change of the folder.
    private static let afterthought = Duration.seconds(1)

    /// Answers, and answers again whenever the answer changes, until a signal ends it.
    ///
    /// A failure of the first look ends the command. A later one is only reported, since the folder may come back.
    ///
    /// - Parameter look: takes a look, as a run that begins at that moment.
    /// - Returns: the signal's exit code.
    /// - Throws: what the first look throws.
    func run(
        _ look: (Invocation) async throws -> Sight
    ) async throws -> CommandResult {
        var shown: String?
        let pace = invocation.profile.watchInterval ?? .seconds(30)
        var limit = pace
        do {
            while true {
                // The watch starts before the look, so that no change in between is missed.
                let watch = FolderWatch(of: try invocation.folder())
                let now = Invocation(invocation.profile, console)
                let (text, show) = await sight(now, look)
                if let error = show.error, shown == nil { throw error }
                if text != shown { try present(show, isFirst: shown == nil) }
                shown = text
                try? await now.memory.catalog.save()
                if console.isAnswerLost { return CommandResult(.done) }
                let isChanged = try watch.wait(
                    atMost: limit,
                    checkCancellation: Interruption.check
                )
                limit = isChanged ? Self.afterthought : pace
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
    /// - Returns: the sight, and a text that changes only with the state, not with ages and free space.
    private func sight(
        _ now: Invocation,
        _ look: (Invocation) async throws -> Sight
    ) async -> (text: String, seen: Seen) {
        do {
            let sight = try await look(now)
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
            // This moves the cursor home, and erases the screen (https://vt100.net/docs/vt510-rm/ED.html).
            if console.redraws {
                console.answer(text: "\u{1B}[H\u{1B}[2J")
            } else if !isFirst, !console.style.json {
                console.answer(text: "\n")
            }
            if let opening = sight.opening { console.message(opening) }
            try console.answer(sight.answer)
            for remark in sight.remarks { console.show(remark) }
        }
    }
}
