internal import ArgumentParser
internal import Foundation

struct ConfigValidateCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "validate",
        "Check the configuration, and report every fault in it.",
        example: "grocerydude config validate --config ./config.yaml"
    )

    @OptionGroup(title: HelpSection.common) var options: ConfigurationOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    func run(on console: Console) async throws -> ExitStatus {
        do {
            let configuration = try Configuration(options)
            guard let file = configuration.file else {
                throw ConfigurationError.noConfiguration(
                    profile: nil,
                    file: Configuration.usualPath
                )
            }
            // The chosen profile may be missing.
            if options.profile != nil { _ = try configuration.profile([]) }
            try configuration.validate(at: Date())
            try console.answer(ConfigValidateAnswer(file: file.path, profiles: configuration.names))
            return .done
        } catch ConfigurationError.invalid(let faults) {
            for fault in faults { console.error(ConfigurationError.invalid([fault])) }
            return .usage
        }
    }
}

/// The answer about a valid configuration.
struct ConfigValidateAnswer: Answer {
    var file: String
    var profiles: [String]

    func write(to console: Console) {
        let names = profiles.isEmpty ? "none" : profiles.joined(separator: ", ")
        console.answer("'\(file)' is valid; profiles: \(names)")
    }
}
