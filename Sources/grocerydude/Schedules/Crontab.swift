internal import Foundation

/// A user's cron table (crontab(5)), in which only this program's blocks are changed.
///
/// It consists of lines of bytes, since other lines may contain anything. A job's block without an end is
/// `ScheduleError.brokenBlock`.
struct Crontab: Equatable {
    /// The lines.
    ///
    /// The last one follows the final line break, and is usually empty.
    private var lines: [ArraySlice<UInt8>]

    private static let begin = "# BEGIN "
    private static let end = "# END "

    init(_ bytes: [UInt8]) {
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Whether a cron daemon runs; `true` if the system does not show all processes.
    static var isListenedTo: Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        guard names.contains("1") else { return true }
        return names.filter { $0.allSatisfy(\.isNumber) }.contains { process in
            let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
            return ["cron\n", "crond\n", "fcron\n", "dcron\n"].contains(name)
        }
    }

    var bytes: [UInt8] { Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

    /// Returns a job's lines; throws `ScheduleError` if cron cannot express the job.
    static func block(_ job: ScheduledJob) throws -> String {
        guard let times = job.schedule.cron else {
            throw ScheduleError.notForKind(job.schedule, .cron)
        }
        let variables = try job.environment.map { "\($0.name)=\(try word($0.value)) " }.joined()
        func line(_ time: String, _ arguments: [String]) throws -> String {
            try
                "\(time) \(variables)\(([job.program] + arguments).map(word).joined(separator: " "))"
        }
        var lines = try times.map { try line($0, job.arguments) }
        // cron runs nothing later that it did not run in time.
        if let arguments = job.missedArguments { lines.append(try line("53 * * * *", arguments)) }
        return """
            \(begin)\(job.name) (made by 'grocerydude schedule install', which replaces it)
            \(ScheduleFile.remarks(job))
            \(lines.joined(separator: "\n"))
            \(end)\(job.name)

            """
    }

    /// Returns a word for sh(1), with an escape for the character that ends a command in crontab(5).
    static func word(_ text: String) throws -> String {
        // Debian's cron(8) takes two backslashes before the character for one, and ends the command there.
        guard !text.contains(where: \.isNewline), !text.contains("\\%") else {
            throw ScheduleError.notWritable(text, .cron)
        }
        let isPlain = !text.isEmpty && text.allSatisfy { $0.isWord(or: Character.plain) }
        let word = isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
        return word.replacing("%", with: "\\%")
    }

    /// Returns a job's lines in the table; `nil` if there are none.
    func block(named name: String) throws -> String? {
        try range(of: name).map { range in
            lines[range].map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
        }
    }

    /// The names of the jobs in the table.
    var names: [String] {
        lines.compactMap { line in
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix(Self.begin), let end = text.firstRange(of: " (made by ") else {
                return nil
            }
            return String(text[..<end.lowerBound].dropFirst(Self.begin.count))
        }
    }

    /// Removes a job, and leaves all other lines unchanged.
    mutating func remove(_ name: String) throws {
        while let range = try range(of: name) { lines.removeSubrange(range) }
    }

    /// Adds a job, or replaces the one with its name.
    mutating func add(_ block: String, named name: String) throws {
        let new = Array(block.utf8).split(separator: UInt8(ascii: "\n"))
        if let range = try range(of: name) {
            lines.replaceSubrange(range, with: new)
        } else {
            // cron ignores a line without a line break.
            if lines.last?.isEmpty != true { lines.append([]) }
            lines.insert(contentsOf: new, at: lines.count - 1)
        }
    }

    private func range(of name: String) throws -> Range<Int>? {
        let beginning = Array("\(Self.begin)\(name) (".utf8),
            ending = Array("\(Self.end)\(name)".utf8)
        guard let start = lines.firstIndex(where: { $0.starts(with: beginning) }) else {
            return nil
        }
        // If another block begins before this one ends, the lines in between may be foreign.
        for index in lines.indices where index > start {
            if lines[index].elementsEqual(ending) { return start..<index + 1 }
            if lines[index].starts(with: Array(Self.begin.utf8)) { break }
        }
        throw ScheduleError.brokenBlock(name)
    }
}
