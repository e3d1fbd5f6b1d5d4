internal import ArgumentParser
internal import Age
internal import Files
internal import Operations

/// The steps of a setup, done one after the other.
struct SetupRun {
    let plan: SetupPlan
    let console: Console
    let output: OutputOptions
    /// The texts of the steps that are done.
    private(set) var done: [String] = []

    init(_ plan: SetupPlan, _ output: OutputOptions, _ console: Console) {
        (self.plan, self.output, self.console) = (plan, output, console)
    }

    /// The texts of the steps that are not done.
    var left: [String] { plan.steps.dropFirst(done.count).map(plan.text) }

    /// Does all steps, until one fails.
    ///
    /// - Returns: the worst exit code.
    mutating func run() async -> ExitStatus {
        var worst = ExitStatus.done
        for (index, step) in plan.steps.enumerated() {
            let text = plan.text(of: step)
            console.note("\(index + 1) of \(plan.steps.count): \(text)")
            var status: ExitStatus
            do {
                try Interruption.check()
                status = try await run(step)
                try Interruption.check()
            } catch {
                console.error(error)
                status = ExitStatus(error)
            }
            guard [.done, .partial].contains(status) else { return status }
            worst = .worse(worst, status)
            done.append(text)
        }
        return worst
    }

    private func run(_ step: SetupPlan.Step) async throws -> ExitStatus {
        switch step {
        case .command(_, let type, let arguments):
            return try await type.parse(arguments + output.arguments).run(on: console)
        case .copying:
            try copyKey()
        case .settings:
            let recipient = plan.beginsEncryption ? try identity().recipient.description : nil
            let changes = SetupSettings.naming(recipient, in: plan.changes)
            let place = try LinkedPlace(plan.site.options, mayBeMissing: true)
            try await place.write(changes, in: place.profile)
        }
        return .done
    }

    /// Returns the secret key that new backups are made for.
    private func identity() throws -> Identity {
        guard let identity = try plan.site.invocation.keyRing.identities().first else {
            throw KeyError.noIdentity
        }
        return identity
    }

    /// Asks for the last letters of the key's copy, until they are right.
    ///
    /// - Throws: `SetupError.ended`, `CancellationError`.
    private func copyKey() throws {
        // A key of SSH has a file of its own, and no letters.
        guard let secret = try identity().revealed else { return }
        let question =
            "The last six letters of the key, from your copy? ('later' goes on without) >"
        let advice = [
            "Without this key nobody opens the backups. Print the page, write it down, or put",
            "it into a password manager; 'grocerydude key print' shows it again.",
        ]
        var lines = advice
        while let reply = console.prompt(question, choices: lines) {
            try Interruption.check()
            lines = []
            let letters = reply.filter { !$0.isWhitespace }
            if letters.uppercased() == secret.suffix(6).uppercased() { return }
            if letters.lowercased() == "later" {
                return console.warn("the copy of the key was not tried")
            }
            console.error(SetupError.otherLetters)
        }
        try Interruption.check()
        throw SetupError.endedInside
    }
}

extension OutputOptions {
    /// The options as a command line has them.
    var arguments: [String] {
        (json ? ["--json"] : []) + (quiet ? ["--quiet"] : [])
            + Array(repeating: "--verbose", count: verbose) + (noProgress ? ["--no-progress"] : [])
    }
}
