internal import Files
internal import Foundation

/// A value as written, before a setting parses it.
struct WrittenValue {
    indirect enum Form {
        /// A text; flags and the environment yield only this form.
        case text(String)
        /// A number in YAML, as written.
        case number(String)
        /// A boolean in YAML, as written.
        case boolean(String)
        case nothing
        case list([Form])
        case mapping
    }

    var form: Form
    var origin: Origin

    /// The directory for relative paths in a file; `nil` for the working directory.
    var base: String?

    /// Creates a value from the command line or the environment.
    static func said(_ text: String, by origin: Origin) -> WrittenValue {
        WrittenValue(form: .text(text), origin: origin)
    }
}

extension WrittenValue.Form {
    /// The form's name in messages.
    var name: String {
        switch self {
        case .text(let text): "'\(text)'"
        case .number(let text): "the number \(text)"
        case .boolean(let text): "'\(text)', which is a truth value in YAML"
        case .nothing: "empty"
        case .list: "a list"
        case .mapping: "keys and values"
        }
    }

    /// Returns a text.
    ///
    /// Values that only look like text are refused: a path or a command `yes` is a mistake.
    fileprivate func text(_ wanted: String) throws -> String {
        switch self {
        case .text(let text) where !text.isEmpty && !text.utf8.contains(0): return text
        case .number, .boolean:
            throw WrongValue(wanted: wanted, not: self, hint: "put it in quotes to mean the text")
        default: throw WrongValue(wanted: wanted, not: self)
        }
    }

    /// Returns a text or a number, for settings that accept both.
    fileprivate func word(_ wanted: String) throws -> String {
        switch self {
        case .text(let text), .number(let text), .boolean(let text): return text
        default: throw WrongValue(wanted: wanted, not: self)
        }
    }
}

extension WrittenValue {
    /// Returns one of several words.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(of: Choice.Type) throws -> Choice {
        let words = Choice.allCases.map(\.rawValue)
        let wanted = "one of \(words.joined(separator: ", "))"
        let word = try form.word(wanted)
        if let choice = Choice(rawValue: word) { return choice }
        let nearest = nearestName(to: word, among: words)
        throw WrongValue(wanted: wanted, not: form, hint: nearest.map { "did you mean '\($0)'?" })
    }

    /// Returns some of several words.
    func choices<Choice: CaseIterable & RawRepresentable<String>>(
        of choice: Choice.Type
    ) throws -> [Choice] {
        guard case .list(let items) = form else { return [try self.choice(of: choice)] }
        return try items.map { try WrittenValue(form: $0, origin: origin).choice(of: choice) }
    }

    func boolean() throws -> Bool {
        switch try form.word("true or false").lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw WrongValue(wanted: "true or false", not: form)
        }
    }

    /// Returns a reason, or `true` for none; `nil` for false.
    func reason() throws -> String? {
        if let isTrue = try? boolean() { return isTrue ? "true" : nil }
        return try text("true, false, or a reason in words") { $0 }
    }

    /// Returns a length of time such as `60s`, `5m`, `26h` or `7d`; a plain number is in seconds.
    func duration() throws -> Duration {
        let wanted = "a length of time such as 60s, 5m, 26h or 7d"
        guard let time = WaitTime(argument: try form.word(wanted)) else {
            throw WrongValue(wanted: wanted, not: form)
        }
        return time.duration
    }

    /// Returns a length of time with an upper limit.
    func duration(to longest: Duration) throws -> Duration {
        let duration = try duration()
        guard duration <= longest else {
            let lines = ShownValue.duration(longest).lines
            throw WrongValue(wanted: "at most \(lines[0])", not: form)
        }
        return duration
    }

    /// Returns a whole number that is not below a limit.
    func count(from lowest: Int) throws -> Int {
        let wanted = "a whole number" + (lowest == 0 ? "" : " of \(lowest) or more")
        guard let count = Int(try form.word(wanted)), count >= lowest, count <= 1_000_000_000
        else { throw WrongValue(wanted: wanted, not: form) }
        return count
    }

    /// Returns the value of a text that a closure can parse.
    func text<Value>(_ wanted: String, _ read: (String) -> Value?) throws -> Value {
        guard let value = read(try form.text(wanted)) else {
            throw WrongValue(wanted: wanted, not: form)
        }
        return value
    }

    /// Returns one text or a list of texts; empty texts are refused.
    func texts(_ wanted: String) throws -> [String] {
        guard case .list(let items) = form else { return [try form.text(wanted)] }
        return try items.map { try $0.text(wanted) }
    }

    /// Returns the values of one text or a list of texts that a closure can parse.
    ///
    /// - Parameters:
    ///   - wanted: the words for what is expected.
    ///   - masked: returns a refused text as it may be shown.
    ///   - read: parses a text.
    /// - Returns: the values.
    /// - Throws: `WrongValue`.
    func list<Value>(
        _ wanted: String,
        masked: (String) -> String = { $0 },
        _ read: (String) -> Value?
    ) throws -> [Value] {
        try texts(wanted).map { text in
            guard let value = read(text) else {
                throw WrongValue(wanted: wanted, not: .text(masked(text)))
            }
            return value
        }
    }

    /// Returns one pattern of gitignore(5), or a list of them.
    func patterns() throws -> [PathPattern] {
        let wanted = "a pattern as in .gitignore, or a list of them"
        return try texts(wanted).map { text in
            do throws(PathPatternError) {
                return try PathPattern(text)
            } catch {
                throw WrongValue(wanted: wanted, not: .text(text), hint: error.reason)
            }
        }
    }

    /// Returns a path.
    ///
    /// One from the configuration is made absolute, and '~/' in it is the home directory.
    func path(_ wanted: String = "a path") throws -> String {
        let text = try form.text(wanted)
        guard let base else { return text }
        if text == "~" || text.hasPrefix("~/") { return ProcessEnvironment.home + text.dropFirst() }
        if text.hasPrefix("~") {
            throw WrongValue(
                wanted: wanted,
                not: form,
                hint:
                    "only '~/' is expanded: write out another user's home directory, or './\(text)'"
            )
        }
        if text.hasPrefix("/") { return text }
        return base + "/" + (text.hasPrefix("./") ? String(text.dropFirst(2)) : text)
    }
}

/// The place where a setting is made; each overrides the ones below it.
enum Origin: Equatable, CustomStringConvertible {
    /// The command line, with this option.
    case flag(String)
    /// The environment, with this variable.
    case environment(String)
    /// The configuration, at this line.
    case file(String, line: Int)
    /// The built-in default.
    case `default`

    /// The path of the configuration's file; `nil` for another origin.
    var file: String? { if case .file(let path, _) = self { path } else { nil } }

    var description: String {
        switch self {
        case .flag(let name): name
        case .environment(let name): name
        case .file(let path, let line): "\(path):\(line)"
        case .default: "default"
        }
    }
}

/// An error for a value that a setting refuses, with the expected form and the value.
struct WrongValue: Error {
    var reason: String
    var hint: String?
}

extension WrongValue {
    init(wanted: String, not form: WrittenValue.Form, hint: String? = nil) {
        reason = "must be \(wanted), not \(form.name)"
        self.hint = hint
    }
}
