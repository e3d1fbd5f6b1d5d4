internal import ArgumentParser

/// A length of time as people type it.
struct WaitTime: ExpressibleByArgument, Equatable {
    let duration: Duration
    /// As it was typed.
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
