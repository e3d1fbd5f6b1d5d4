internal import Files
internal import Foundation
internal import Operations
internal import Synchronization
internal import SystemPackage

/// Where the program speaks: answers to standard output, everything else to standard error.
final class Console: Sendable {
    private let options: OutputOptions
    /// Whose run it is that is spoken of, where there are several.
    private let profile: String?
    private let progress: Mutex<ProgressBar?>
    private let timings = Mutex<[String: Duration]>([:])
    private let lostAnswer = Mutex<Errno?>(nil)

    /// Begins to speak.
    ///
    /// - Parameters:
    ///   - options: how.
    ///   - profile: whose run it is, where there are several.
    init(_ options: OutputOptions, profile: String? = nil) {
        self.options = options
        self.profile = profile
        let isShown = isatty(2) == 1 && !options.noProgress && !options.quiet && !options.json
        progress = Mutex(isShown ? ProgressBar() : nil)
    }

    /// Whether a person can be asked something.
    var canAsk: Bool { isatty(0) == 1 && isatty(2) == 1 }

    /// Writes a line of the answer; names in it may come from anywhere, so it is made safe to print.
    func answer(_ line: String) {
        answer(lines: [line])
    }

    /// Writes many lines of an answer at once.
    func answer(lines: [String]) {
        writeAnswer(lines.map { label + printable(bytes: $0.utf8) + "\n" }.joined())
    }

    /// Writes a line about what was done, unless only errors are wanted: who did not ask a question wants
    /// no answer from a run that went well.
    func done(_ line: String) {
        guard !options.quiet else { return }
        answer(line)
    }

    /// Writes a value as JSON on one line.
    func answer(json value: some Encodable) throws {
        writeAnswer(try Self.json(value) + "\n")
    }

    /// Writes an answer as it stands: a text of our own, with its line ends.
    func answerText(_ text: String) {
        writeAnswer(text)
    }

    /// Once a part of the answer is lost, no more of it is written: it would be taken for the whole.
    private func writeAnswer(_ text: String) {
        lostAnswer.withLock { lost in
            if lost == nil { lost = writeAll(text, to: 1) }
        }
    }

    /// The exit code for a command that ended with one, by what became of its answer.
    func code(after code: Int32) -> Int32 {
        guard code == 0, let errno = lostAnswer.withLock(\.self) else { return code }
        // As the system would have ended it; whoever closed the pipe wants to hear no more.
        if errno == .brokenPipe { return 128 + SIGPIPE }
        let lost = CommandError.answerLost(.failed(.write, "/dev/stdout", errno))
        error(lost)
        return exitCode(for: lost)
    }

    /// Writes a message for the person, unless only errors are wanted.
    func message(_ text: String) {
        guard !options.quiet else { return }
        withoutProgress { say(label + text) }
    }

    /// Writes an error and its hint; where only errors are wanted, in one line.
    func error(_ error: any Error) {
        if options.json {
            let message = ErrorMessage(
                code: Int(exitCode(for: error)),
                message: explain(error),
                hint: (error as? any ExplainedError)?.hint,
                profile: profile
            )
            let line = ((try? Self.json(message)) ?? "{}") + "\n"
            withoutProgress {
                writeAll(line, to: 2)
                // Of several runs, the answer has an object for each.
                if profile != nil { writeAll(line, to: 1) }
            }
            return
        }
        withoutProgress {
            let hint = (error as? any ExplainedError)?.hint
            let text = "error: \(label)\(explain(error))"
            guard !options.quiet else { return say(text + (hint.map { "; hint: \($0)" } ?? "")) }
            say(text)
            if let hint { say("hint: \(hint)") }
        }
    }

    /// Asks a question that can be answered with yes; everything else is no.
    func ask(_ question: String) -> Bool {
        withoutProgress { writeAll("\(printable(bytes: question.utf8)) [y/N] ", to: 2) }
        let reply = readLine()?.lowercased() ?? ""
        return reply == "y" || reply == "yes"
    }

    /// Shows what an operation tells.
    func show(_ event: OperationEvent) {
        switch event {
        case .began(let stage, let total): progress.withLock { $0?.begin(stage, total: total) }
        case .advanced(let bytes): progress.withLock { $0?.advance(bytes) }
        case .note(let text): tell("note", text)
        case .warning(let text): tell("warning", text)
        case .problem(let problem): tell("problem", problem.description)
        case .said(let event, let line): tell("output", "\(event): \(line)")
        case .timed(let step, let duration):
            timings.withLock { $0[step, default: .zero] += duration }
        case .waiting(let holder):
            tell("note", "waiting for \(holder?.description ?? "another run")")
        }
    }

    /// Removes the progress bar, and tells where the time went if that was asked for.
    func finish() {
        progress.withLock { $0?.clear() }
        guard options.timings else { return }
        let taken = timings.withLock { timings in
            defer { timings = [:] }
            return timings
        }
        for (step, duration) in taken.sorted(by: { $0.value > $1.value }) {
            let time = duration.formatted(
                .units(allowed: [.seconds], fractionalPart: .show(length: 3))
            )
            writeAll("\(time)  \(step)\n", to: 2)
        }
    }

    /// Standard output has the answer and nothing else; who wants quiet wants to know of problems
    /// all the same.
    private func tell(_ type: String, _ text: String) {
        let isProblem = type == "problem" || type == "warning"
        guard isProblem || !options.quiet else { return }
        withoutProgress {
            if options.json {
                var message = ["message_type": type, "message": text]
                message["profile"] = profile
                let line = try? Self.json(message)
                writeAll((line ?? "{}") + "\n", to: 2)
            } else {
                say((isProblem ? "warning: " : "") + label + text)
            }
        }
    }

    /// Writes a line to standard error; what SQLite says of a store has names from it, so it is made
    /// safe to print too.
    private func say(_ text: String) {
        writeAll("grocerydude: \(printable(bytes: text.utf8))\n", to: 2)
    }

    private var label: String { profile.map { "\($0): " } ?? "" }

    private func withoutProgress(_ body: () -> Void) {
        progress.withLock {
            $0?.clear()
            body()
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private struct ErrorMessage: Encodable {
        var messageType = "error"
        var code: Int
        var message: String
        var hint: String?
        var profile: String?
    }
}

/// Writes text to a descriptor, all of it.
///
/// - Returns: why it could not be written; of messages, that is not worth a failure.
@discardableResult
func writeAll(_ text: String, to descriptor: Int32) -> Errno? {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            return Errno(rawValue: errno)
        }
        bytes = bytes.dropFirst(count)
    }
    return nil
}

/// The exit code for an error; one above 128 names the signal that caused it.
func exitCode(for error: any Error) -> Int32 {
    var cause = error
    if case RestoreError.rolledBack(let reason, _) = error { cause = reason }
    if cause is CancellationError, Interruption.signalNumber != 0 {
        return 128 + Interruption.signalNumber
    }
    return ExitStatus(error).rawValue
}
