internal import ArgumentParser

struct ConfigValidateCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "validate",
        "Read the configuration and tell every fault in it.",
        example: "grocerydude config validate --config ./config.yaml"
    )

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var output: OutputOptions

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
            try console.answer(ConfigValidateAnswer(file: file.path, profiles: configuration.names))
            return .done
        } catch ConfigurationError.invalid(let faults) {
            for fault in faults { console.error(ConfigurationError.invalid([fault])) }
            return .usage
        }
    }
}
