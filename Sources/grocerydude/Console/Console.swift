internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import Synchronization
internal import SystemPackage

/// The program's output: answers to standard output, everything else to standard error.
final class Console: Sendable {
    /// The format and the amount of output.
    let style: OutputStyle
    /// The profile of the run, if there are several.
    private let profile: String?
    private let progress: Mutex<ProgressBar?>
    private let statusLines: Mutex<StatusLines?>
    /// The progress for other runs, which wait for this one or look at it.
    private let record = Mutex(StatusLines())
    private let lostAnswer = Mutex<Errno?>(nil)
    private let places = Mutex(HintedPlaces())
    private static let records = FilePath(ProcessEnvironment.state + "/grocerydude/progress")

    /// - Parameters:
    ///   - style: the format and the amount of output.
    ///   - profile: the profile of the run, if there are several.
    init(_ style: OutputStyle, profile: String? = nil) {
        self.style = style
        self.profile = profile
        let isShown = !style.noProgress && !style.quiet
        progress = Mutex(isShown && isatty(2) == 1 && !style.json ? ProgressBar() : nil)
        statusLines = Mutex(isShown && style.json ? StatusLines() : nil)
    }

    /// Has the commands in hints mean the places of a run.
    func hint(in places: HintedPlaces) { self.places.withLock { $0 = places } }

    /// Returns a text whose commands mean the places of the run.
    func hinted(_ text: String) -> String { places.withLock { $0 }.applied(to: text) }

    /// Whether there is a terminal for questions.
    var canAsk: Bool { isatty(0) == 1 && isatty(2) == 1 }

    /// Writes an answer in the requested format.
    func answer(_ answer: some Answer) throws {
        if style.json {
            writeAnswer(try Self.json(answer) + "\n")
        } else {
            answer.write(to: self)
        }
    }

    /// Writes a line of the answer in a printable form, since names in it may come from anywhere.
    func answer(_ line: String) {
        answer(lines: [line])
    }

    /// Writes several lines of an answer at once.
    func answer(lines: [String]) {
        writeAnswer(lines.map { label + printable(bytes: $0.utf8) + "\n" }.joined())
    }

    /// Writes rows of an answer in columns, of which a terminal gets no line of more than 80 characters.
    func answer(columns: Columns) {
        answer(lines: isatty(1) == 1 ? columns.lines(within: 80) : columns.lines)
    }

    /// Writes a line about completed work, unless only errors are wanted.
    ///
    /// The line of a dry run is a requested answer, and is always written.
    func done(_ line: String, isDryRun: Bool = false) {
        guard isDryRun || !style.quiet else { return }
        answer(line)
    }

    /// Writes a text of this program, including its line breaks, without changes.
    func answer(text: String) {
        writeAnswer(text)
    }

    /// Writes bytes of an answer without changes: for a program, or if they are printable.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - isText: whether they are printable; if not, a terminal gets a printable form of each line.
    func answer(bytes: [UInt8], isText: Bool) {
        guard !isText, isatty(1) == 1 else { return writeAnswer(bytes) }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        writeAnswer(Array(lines.map { printable(bytes: $0) }.joined(separator: "\n").utf8))
    }

    /// Writes a part of the answer, unless an earlier part was lost: the rest would look like a complete answer.
    private func writeAnswer(_ text: String) { writeAnswer(Array(text.utf8)) }

    private func writeAnswer(_ bytes: [UInt8]) {
        finish()
        lostAnswer.withLock { lost in
            if lost == nil { lost = writeAll(bytes, to: 1) }
        }
    }

    /// Returns the exit code of a command, given the fate of its answer.
    func status(after status: ExitStatus) -> ExitStatus {
        guard status == .done, let errno = lostAnswer.withLock(\.self) else { return status }
        // SIGPIPE would have ended the program; the closed pipe needs no message.
        if errno == .brokenPipe { return .signalled(SIGPIPE) }
        let lost = CommandError.answerLost(.failed(.write, "/dev/stdout", errno))
        error(lost)
        return ExitStatus(lost)
    }

    /// Writes a message for people, unless only errors are wanted.
    func message(_ text: String) {
        guard style.level >= .info else { return }
        withoutProgress { say(label + hinted(text)) }
    }

    /// Writes an error with its hint, on one line if only errors are wanted.
    func error(_ error: any Error) {
        if style.json {
            let message = ErrorMessage(
                code: ExitStatus(error).rawValue,
                message: explain(error),
                hint: Hint.after(error).map(hinted),
                profile: profile
            )
            let line = ((try? Self.json(message)) ?? "{}") + "\n"
            withoutProgress {
                writeAll(line, to: 2)
                // With several runs, the answer contains an object for each.
                if profile != nil { writeAll(line, to: 1) }
            }
            return
        }
        withoutProgress {
            let hint = Hint.after(error).map(hinted)
            let text = "error: \(label)\(hinted(explain(error)))"
            guard !style.quiet else { return say(text + (hint.map { "; hint: \($0)" } ?? "")) }
            say(text)
            if let hint { say("hint: \(hint)") }
        }
    }

    /// Asks a question; returns `true` only for the answer yes.
    func ask(_ question: String) -> Bool {
        withoutProgress { writeAll("\(printable(bytes: question.utf8)) [y/N] ", to: 2) }
        let reply = nextLine()?.lowercased() ?? ""
        return reply == "y" || reply == "yes"
    }

    /// Asks a question for a text; `nil` if there is no answer.
    func prompt(_ question: String, choices: [String]) -> String? {
        let lines = (choices + ["\(question) "]).map { printable(bytes: $0.utf8) }
        withoutProgress { writeAll(lines.joined(separator: "\n"), to: 2) }
        return nextLine()
    }

    /// Returns the next line of standard input; `nil` at its end, or if a signal asks to stop.
    ///
    /// readLine() alone continues to wait after a signal.
    private func nextLine() -> String? {
        Interruption.waitForInput(on: 0) ? readLine() : nil
    }

    /// Asks for a secret without showing it while it is typed.
    ///
    /// - Returns: `nil` if there is no answer.
    /// - Throws: `CancellationError` if a signal asks to stop.
    func secret(_ question: String) throws -> [UInt8]? {
        var usual = termios()
        guard tcgetattr(0, &usual) == 0 else { return nil }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO)
        // The echo is disabled before the question, so that a fast answer is neither shown nor lost.
        tcsetattr(0, TCSAFLUSH, &silent)
        withoutProgress { writeAll("\(question) [not shown] ", to: 2) }
        defer {
            tcsetattr(0, TCSAFLUSH, &usual)
            writeAll("\n", to: 2)
        }
        let line = nextLine()
        try Interruption.check()
        return line.map { Array($0.utf8) }
    }

    /// Whether answers on the terminal replace each other.
    var redraws: Bool { isatty(1) == 1 && !style.json }

    /// Whether the reader of the answers is gone.
    var isAnswerLost: Bool { lostAnswer.withLock { $0 != nil } }

    /// Shows an event of an operation.
    func show(_ event: OperationEvent) {
        switch event {
        case .began(let stage, let total):
            progress.withLock { $0?.begin(stage, total: total) }
            statusLines.withLock { $0?.begin(stage, total: total) }
            record.withLock { $0.begin(stage, total: total) }
            if style.level >= .verbose {
                report("note", stage.rawValue + (total.map { ": \(byteCount($0))" } ?? ""))
            }
        case .advanced(let bytes):
            progress.withLock { $0?.advance(bytes) }
            writeStatus(statusLines.withLock { $0?.advance(bytes) })
            shareProgress(bytes)
        case .note(let text): report("note", text)
        case .detail(let text): if style.level >= .verbose { report("note", text) }
        case .warning(let text): report("warning", text)
        case .problem(let problem):
            report(
                "problem",
                [problem.description, problem.hint].compactMap(\.self).joined(
                    separator: "; "
                )
            )
        case .said(let event, let line): report("output", "\(event): \(line)")
        case .waiting(let holder):
            report("note", "waiting for \(holder.map(Self.shown) ?? "another run")")
        case .waitingForRemote(let address, let duration):
            // An unattended run reports it only if it fails.
            guard isatty(2) == 1 || style.json || style.verbose > 0 else { return }
            report("note", "waiting for '\(address)' for \(duration.components.seconds) s")
        }
    }

    func note(_ text: String) { show(.note(text)) }

    func warn(_ text: String) { show(.warning(text)) }

    /// Writes the progress for other runs, at most once a second.
    private func shareProgress(_ bytes: Int64) {
        let progress = record.withLock { $0.advance(bytes) == nil ? nil : $0.progress }
        guard let progress else { return }
        RunProgress(stage: progress.stage, done: progress.done, total: progress.total)
            .write(to: Self.records)
    }

    /// Removes the progress for other runs.
    func finishRun() { RunProgress.remove(from: Self.records) }

    /// Returns a process that holds a lock, with its progress if that is known.
    static func shown(_ holder: LockHolder) -> String {
        let progress = RunProgress(of: holder, in: records).map { ": \($0.text)" }
        return holder.description + (progress ?? "")
    }

    /// Removes the progress bar.
    func finish() {
        progress.withLock { $0?.clear() }
    }

    /// Writes an event to standard error; problems are written even in quiet mode.
    private func report(_ type: String, _ text: String) {
        let isProblem = type == "problem" || type == "warning"
        guard isProblem || style.level >= .info else { return }
        let text = hinted(text)
        withoutProgress {
            if style.json {
                var message = ["message_type": type, "message": text]
                message["profile"] = profile
                let line = try? Self.json(message)
                writeAll((line ?? "{}") + "\n", to: 2)
            } else {
                say((isProblem ? "warning: " : "") + label + text)
            }
        }
    }

    /// Writes a line about progress for programs.
    private func writeStatus(_ line: StatusLines.Line?) {
        guard var line else { return }
        line.profile = profile
        if let text = try? Self.json(line) { writeAll(text + "\n", to: 2) }
    }

    /// Writes a printable line to standard error, since SQLite's messages contain names of a store.
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

    /// Returns an answer as one line of JSON.
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self).printableJSON
    }

    private struct ErrorMessage: Encodable {
        var messageType = "error"
        var code: Int32
        var message: String
        var hint: String?
        var profile: String?
    }
}

/// Writes a whole text to a descriptor.
///
/// - Returns: the error if it could not be written; a lost message is no failure.
@discardableResult
func writeAll(_ text: String, to descriptor: Int32) -> Errno? {
    writeAll(Array(text.utf8), to: descriptor)
}

/// Writes all bytes to a descriptor; see above.
@discardableResult
private func writeAll(_ all: [UInt8], to descriptor: Int32) -> Errno? {
    var bytes = all[...]
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
