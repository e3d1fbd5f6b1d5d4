internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import SystemPackage

/// The steps that make a machine as the answers of a setup say.
///
/// Each is a command of this program, or writes the profile's piece of the configuration.
struct SetupPlan {
    enum Step {
        /// A command: its words, its type and its arguments.
        case command(String, any ConsoleCommand.Type, [String])
        /// The person copies the new key, and shows that by its last letters.
        case copying
        /// The settings are written.
        case settings
    }

    let answers: SetupAnswers
    let site: SetupSite
    private(set) var steps: [Step] = []
    /// The settings that change; the recipient of a new key is not known before it is made.
    let changes: LinkedPlace.Changes

    /// Whether encryption begins, so that the key has to be found or made.
    var beginsEncryption: Bool { answers.encrypts && site.profile.keys.recipients.isEmpty }

    /// Makes the plan.
    ///
    /// - Parameters:
    ///   - answers: the answers.
    ///   - site: the present state.
    ///   - more: further settings.
    ///   - showsKey: whether a person can copy a key from the terminal.
    /// - Throws: `ConfigurationError` if a person's file decides a setting; `SetupError.environment`; errors of keys.
    init(
        _ answers: SetupAnswers,
        at site: SetupSite,
        with more: [FlagValue],
        showsKey: Bool
    ) throws {
        self.answers = answers
        self.site = site
        changes =
            try SetupSettings(answers, at: site).changes
            // In a piece of the configuration, a relative path would be relative to that.
            + more.map { ($0.key, Setting.portable($0.value, of: $0.key)) }
        let places: LinkedPlace.Changes = [
            ("stores", answers.stores.string), ("remote", answers.folder.address),
        ]
        let changedPlaces = places.filter { site.owns($0.key) }
        try site.place.text(with: changes + changedPlaces, in: site.place.profile)
        for (key, value) in changes + places {
            let variable = Setting.all.first { $0.key == key }?.environment
            if let variable, let present = ProcessEnvironment.value(variable),
                Setting.portable(present, of: key) != value
            {
                throw SetupError.environment(variable: variable, value: present)
            }
        }
        steps = try makeSteps(showsKey: showsKey)
    }

    private func makeSteps(showsKey: Bool) throws -> [Step] {
        var steps: [Step] = []
        let old = try site.linked
        let isLinked =
            old == answers.folder.address
            && site.invocation.absolute(site.profile.stores) == answers.stores
            && site.profile.origin(of: "stores") != .default
        let link =
            isLinked
            ? ["--check"]
            : [answers.folder.text, "--stores", answers.stores.string]
                + (old.map { $0 != answers.folder.address } == true ? ["--replace"] : [])
        steps.append(.command("link", LinkCommand.self, link + profileOptions))
        let keys = site.invocation.keyRing
        if beginsEncryption, try keys.identities().isEmpty {
            steps.append(.command("key generate", KeyGenerateCommand.self, []))
        }
        if !changes.isEmpty { steps.append(.settings) }
        if beginsEncryption, showsKey {
            steps.append(.command("key print", KeyPrintCommand.self, profileOptions))
            steps.append(.copying)
        }
        steps.append(.command("backup", BackupCommand.self, profileOptions))
        if try !answers.encrypts || site.opensBackups {
            if answers.encrypts {
                let check = ["latest"] + profileOptions
                steps.append(.command("key check", KeyCheckCommand.self, check))
            }
            let rehearsal = ["latest", "--restore"] + profileOptions
            steps.append(.command("check", CheckCommand.self, rehearsal))
        }
        if site.kind != nil {
            steps.append(
                .command("schedule install", ScheduleInstallCommand.self, schedulerOptions)
            )
        }
        if answers.notify?.isEmpty == false {
            steps.append(.command("notify test", NotifyTestCommand.self, profileOptions))
        }
        return steps
    }

    /// The options that name the profile.
    private var profileOptions: [String] {
        (site.place.profile.map { ["--profile", $0] } ?? [])
            + (site.options.configuration.map { ["--config", $0] } ?? [])
    }

    private var schedulerOptions: [String] {
        let detected = try? ScheduleKind.detected()
        let kind = site.kind.flatMap { $0 == detected ? nil : ["--kind", $0.rawValue] } ?? []
        return profileOptions + kind
    }

    /// The file that the settings are written into.
    var file: String { printable(site.place.piece(of: site.place.profile)) }

    /// The setup that gives the same answers, as a command.
    var command: String {
        // Addresses with secrets would be of no use without them.
        let words = answers.options.map(shown) + profileOptions + ["--yes"]
        return (["grocerydude setup"] + words.map(Self.word)).joined(separator: " ")
    }

    /// Returns a step as people see it.
    func text(of step: Step) -> String {
        switch step {
        case .command(let words, _, let arguments):
            return (["grocerydude \(words)"] + arguments.map(shown).map(Self.word))
                .joined(separator: " ")
        case .copying: return "copy the key, and type the end of it"
        case .settings: return "write '\(file)'"
        }
    }

    /// The settings that change, as people see them.
    var changeLines: [String] {
        changes.map { key, value in
            if key == "recipients", beginsEncryption { return "\(key): the key" }
            guard let value else { return "without \(key)" }
            return "\(key): \(Setting.shown(value, of: key).replacing("\n", with: ", "))"
        }
    }

    private static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.allSatisfy { $0.isWord(or: Character.plain) }
        return isPlain ? text : shellWord(text)
    }

    /// Returns an argument without secrets.
    private func shown(_ argument: String) -> String {
        RemoteAddress(argument).isOfRclone ? RemoteAddress(argument).shown : argument
    }
}
