internal import ArgumentParser

/// A setting from the command line; `nil` represents an option that was not given.
struct FlagValue {
    /// The option's name: `--stores`.
    var name: String
    /// The setting's key.
    var key: String
    var value: String

    init?(_ name: String, _ key: String, _ value: String?) {
        guard let value else { return nil }
        self.name = name
        self.key = key
        self.value = value
    }

    /// Parses the value of `--set`: a setting's key, `=` and its value.
    ///
    /// - Throws: `ValidationError` if it has another form.
    init(setting text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw ValidationError("'--set' takes KEY=VALUE, such as 'spool=false'")
        }
        (key, value) = (String(parts[0]), String(parts[1]))
        name = "--set \(key)"
    }
}

/// A length of time as typed.
struct WaitTime: ExpressibleByArgument, Equatable {
    let duration: Duration
    /// The text as typed.
    let text: String

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let seconds: [String: Int] = ["": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let number = Int(digits),
            let unit = seconds[String(argument.dropFirst(digits.count))],
            number <= 1_000_000
        else { return nil }
        duration = .seconds(number * unit)
        text = argument
    }
}

extension ParsableCommand {
    /// Throws if a path is empty, as from a variable that is not set: it would be the working directory.
    func refuseEmpty(_ path: String?, _ name: String) throws {
        guard path?.isEmpty == true else { return }
        throw ValidationError("\(name) is empty, as from a variable that is not set")
    }
}
