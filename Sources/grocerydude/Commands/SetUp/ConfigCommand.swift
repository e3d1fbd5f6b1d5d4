internal import ArgumentParser
internal import Foundation

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show what is set and where, check the configuration, or print an example.",
        discussion: """
            EXAMPLE
              grocerydude config example > ~/.config/grocerydude/config.yaml
              grocerydude config validate
              grocerydude config show --profile photos

            \(ExitStatus.help)
            """,
        subcommands: [Show.self, Validate.self, Example.self]
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the settings that are in force, and where each was said.",
            discussion: """
                A flag wins over the environment, that over the configuration's profile, that over \
                what the configuration says for all profiles, and that over the default.

                EXAMPLE
                  grocerydude config show --profile photos

                \(ExitStatus.help)
                """
        )

        @OptionGroup var stores: StoresOptions
        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        @Flag(help: "Show what is not set, too.")
        var all = false

        func run() async throws {
            let console = Console(output)
            try await Session.reporting(to: console) {
                let configuration = try Configuration(stores.configuration)
                let profile = try configuration.profile(stores.flags + remote.flags)
                let rows = Setting.all.map { Row($0, of: profile) }
                    .filter { all || $0.value != .none && $0.value != .list([]) || $0.isSaid }
                if output.json {
                    try console.answer(
                        json: Answer(
                            profile: profile.name,
                            file: profile.file,
                            profiles: configuration.names,
                            settings: rows
                        )
                    )
                } else {
                    console.answer("profile  \(profile.name ?? "none")")
                    console.answer("file     \(profile.file ?? "none")")
                    console.answer("")
                    let width = rows.map(\.key.count).max() ?? 0
                    for row in rows { tell(row, width: width, console) }
                }
                return 0
            }
        }

        private func tell(_ row: Row, width: Int, _ console: Console) {
            let lines = row.value.lines.isEmpty ? ["-"] : row.value.lines
            for (index, line) in lines.enumerated() {
                let key = (index == 0 ? row.key : "").padded(to: width)
                console.answer(
                    index == 0
                        ? "\(key)  \(line.padded(to: 30))  \(row.origin.text)" : "\(key)  \(line)"
                )
            }
        }

        /// The answer in JSON.
        private struct Answer: Encodable {
            var profile: String?
            var file: String?
            var profiles: [String]
            var settings: [Row]
        }

        private struct Row: Encodable {
            var key: String
            var value: ShownValue
            var origin: Place
            var isSaid: Bool { origin.kind != "default" }

            init(_ setting: Setting, of profile: Profile) {
                key = setting.key
                value = setting.show(profile)
                origin = Place(profile.origin(of: setting.key))
            }

            private enum CodingKeys: CodingKey { case key, value, origin }
        }

        /// Where a setting was said, in JSON.
        private struct Place: Encodable {
            var kind: String
            /// The flag's or the variable's.
            var name: String?
            var file: String?
            var line: Int?
            var text: String

            init(_ origin: Origin) {
                text = origin.description
                switch origin {
                case .flag(let name): (kind, self.name) = ("flag", name)
                case .environment(let name): (kind, self.name) = ("environment", name)
                case .file(let path, let line): (kind, file, self.line) = ("file", path, line)
                case .default: kind = "default"
                }
            }
        }
    }

    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "validate",
            abstract: "Read the configuration and tell every fault in it.",
            discussion: """
                EXAMPLE
                  grocerydude config validate --config ./config.yaml

                \(ExitStatus.help)
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let console = Console(output)
            try await Session.reporting(to: console) {
                do {
                    let configuration = try Configuration(options)
                    guard let file = configuration.file else {
                        throw ConfigurationError.noConfiguration(
                            profile: nil,
                            file: Configuration.usualPath
                        )
                    }
                    // Which one is chosen may be wrong too.
                    if options.profile != nil { _ = try configuration.profile([]) }
                    if output.json {
                        try console.answer(
                            json: Answer(file: file.path, profiles: configuration.names, faults: [])
                        )
                    } else {
                        let names = configuration.names.joined(separator: ", ")
                        console.answer(
                            "'\(file.path)' is valid; profiles: \(names.isEmpty ? "none" : names)"
                        )
                    }
                    return 0
                } catch ConfigurationError.invalid(let faults) {
                    for fault in faults { console.error(ConfigurationError.invalid([fault])) }
                    return ExitStatus.usage.rawValue
                }
            }
        }

        /// The answer in JSON.
        private struct Answer: Encodable {
            var file: String
            var profiles: [String]
            var faults: [String]
        }
    }

    struct Example: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "example",
            abstract: "Print a configuration to begin with.",
            discussion: """
                EXAMPLE
                  grocerydude config example > ~/.config/grocerydude/config.yaml

                \(ExitStatus.help)
                """
        )

        @OptionGroup var output: OutputOptions

        func run() async throws {
            let console = Console(output)
            try await Session.reporting(to: console) {
                if output.json {
                    try console.answer(json: ["example": configurationExample])
                } else {
                    console.answerText(configurationExample)
                }
                return 0
            }
        }
    }
}
