internal import Files
internal import Foundation

/// A value as it is written, before a setting has read it.
struct WrittenValue {
    indirect enum Form {
        /// Text; flags and the environment give nothing else.
        case text(String)
        /// A number to YAML, as it is written.
        case number(String)
        /// True or false to YAML, as it is written.
        case boolean(String)
        case nothing
        case list([Form])
        case mapping
    }

    var form: Form
    var origin: Origin

    /// The directory that relative paths in a file begin at; `nil` for the working directory.
    var base: String?

    /// Returns text from the command line or the environment.
    static func said(_ text: String, by origin: Origin) -> WrittenValue {
        WrittenValue(form: .text(text), origin: origin)
    }
}

extension WrittenValue.Form {
    /// The form as a message names it.
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

    /// Returns text, and nothing that only looks like it: a path or a command `yes` is a mistake.
    fileprivate func text(_ wanted: String) throws -> String {
        switch self {
        case .text(let text) where !text.isEmpty: return text
        case .number, .boolean:
            throw WrongValue(wanted: wanted, not: self, hint: "put it in quotes to mean the text")
        default: throw WrongValue(wanted: wanted, not: self)
        }
    }

    /// Returns text or a number, if a number is as good.
    fileprivate func word(_ wanted: String) throws -> String {
        switch self {
        case .text(let text), .number(let text), .boolean(let text): return text
        default: throw WrongValue(wanted: wanted, not: self)
        }
    }
}

extension WrittenValue {
    /// Returns one of some words.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(of: Choice.Type) throws -> Choice {
        let words = Choice.allCases.map(\.rawValue)
        let wanted = "one of \(words.joined(separator: ", "))"
        let word = try form.word(wanted)
        if let choice = Choice(rawValue: word) { return choice }
        let nearest = nearestName(to: word, among: words)
        throw WrongValue(wanted: wanted, not: form, hint: nearest.map { "did you mean '\($0)'?" })
    }

    func boolean() throws -> Bool {
        switch try form.word("true or false").lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw WrongValue(wanted: "true or false", not: form)
        }
    }

    /// Returns a length of time such as `60s`, `5m`, `26h` or `7d`; a number alone is seconds.
    func duration() throws -> Duration {
        let wanted = "a length of time such as 60s, 5m, 26h or 7d"
        guard let time = WaitTime(argument: try form.word(wanted)) else {
            throw WrongValue(wanted: wanted, not: form)
        }
        return time.duration
    }

    /// Returns a length of time that is no longer than another one.
    func duration(to longest: Duration) throws -> Duration {
        let duration = try duration()
        guard duration <= longest else {
            let lines = ShownValue.duration(longest).lines
            throw WrongValue(wanted: "at most \(lines[0])", not: form)
        }
        return duration
    }

    /// Returns a whole number of `lowest` at least.
    func count(from lowest: Int) throws -> Int {
        let wanted = "a whole number" + (lowest == 0 ? "" : " of \(lowest) or more")
        guard let count = Int(try form.word(wanted)), count >= lowest, count <= 1_000_000_000
        else { throw WrongValue(wanted: wanted, not: form) }
        return count
    }

    /// Returns text that a function can read.
    func text<Value>(_ wanted: String, _ read: (String) -> Value?) throws -> Value {
        guard let value = read(try form.text(wanted)) else {
            throw WrongValue(wanted: wanted, not: form)
        }
        return value
    }

    /// Returns one text or a list of texts; none of them is empty.
    func texts(_ wanted: String) throws -> [String] {
        guard case .list(let items) = form else { return [try form.text(wanted)] }
        return try items.map { try $0.text(wanted) }
    }

    /// Returns one pattern of gitignore(5) or a list of them.
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

    /// Returns a path, absolute if it is from the configuration, where '~/' is the home directory.
    func path(_ wanted: String = "a path") throws -> String {
        let text = try form.text(wanted)
        guard let base else { return text }
        if text == "~" || text.hasPrefix("~/") { return ProcessEnvironment.home + text.dropFirst() }
        if text.hasPrefix("~") {
            throw WrongValue(
                wanted: wanted,
                not: form,
                hint: "only '~/' is the home directory: write another user's out, or './\(text)'"
            )
        }
        if text.hasPrefix("/") { return text }
        return base + "/" + (text.hasPrefix("./") ? String(text.dropFirst(2)) : text)
    }
}
