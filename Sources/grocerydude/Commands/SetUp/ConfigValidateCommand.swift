internal import ArgumentParser
internal import Foundation
internal import SystemPackage

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
            guard configuration.file != nil else {
                throw ConfigurationError.noConfiguration(
                    profile: nil,
                    file: configuration.files.path.string
                )
            }
            // The chosen profile may be missing.
            if options.profile != nil { _ = try configuration.profile([]) }
            let faults = try configuration.validate(at: Date(), on: console)
            for fault in faults { console.error(fault) }
            if let first = faults.first { return ExitStatus(first) }
            try console.answer(
                ConfigValidateAnswer(
                    files: configuration.files.paths,
                    profiles: configuration.names
                )
            )
            return .done
        } catch ConfigurationError.invalid(let faults) {
            for fault in faults { console.error(ConfigurationError.invalid([fault])) }
            return .usage
        }
    }
}

/// The answer about a valid configuration.
struct ConfigValidateAnswer: Answer {
    /// The paths of its files, each before those that it overrides.
    var files: [String]
    var profiles: [String]

    func write(to console: Console) {
        let paths = files.map { "'\($0)'" }.joined(separator: ", ")
        let names = profiles.isEmpty ? "none" : profiles.joined(separator: ", ")
        console.answer("\(paths) \(files.count == 1 ? "is" : "are") valid; profiles: \(names)")
    }
}
