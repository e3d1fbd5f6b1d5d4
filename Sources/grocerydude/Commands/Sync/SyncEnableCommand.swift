public import ArgumentParser
internal import Changes
internal import Files
internal import Foundation
internal import Operations
public import Sync
internal import SystemPackage

struct SyncEnableCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        "enable",
        "Add a store to a sync group: begin a group, or join one.",
        discussion: """
            First it reports what it finds: which devices take part, how each table's rows are known on all \
            devices, which tables are left out, and what it guesses from the rows. Then it asks, keeps a \
            copy of the store, and exchanges once. Equal rows become one. Rows go from here only if others have \
            deleted them, or if a row of the group has their unique value; each is listed.
            """,
        example: "grocerydude sync enable --container ~/Dropbox/Sync",
        "grocerydude sync enable --container rclone:nas:sync --store Notes.sqlite --dry-run"
    )

    @Option(
        help:
            "The folder that the devices share: a directory, or 'rclone:REMOTE:PATH'; else GROCERYDUDE_CONTAINER, else the profile's."
            .value("folder"),
        completion: .directory
    )
    var container: String?

    @Option(
        help: "The store, if there are several: its name in the stores directory.".value("name")
    )
    var store: String?

    @Option(help: "The group's name in the folder; else made of the store's.".value("name"))
    var group: String?

    @Option(
        help:
            "A JSON file with what the schema does not say: identities, references, names, exclusions."
            .value("file"),
        completion: .file(extensions: ["json"])
    )
    var map: String?

    @Option(
        help:
            "How to match rows with the group's, besides by keys and first content: content (as it is now), copy (by their numbers, if this store is a copy of another device's), key (by keys alone)."
            .value("how")
    )
    var match: JoinMatch?

    @Option(help: "This device's name, for people; else the machine's.".value("name"))
    var device: String?

    @Option(help: "A table that does not sync; may be given several times.".value("table"))
    var exclude: [String] = []

    @Flag(help: "Write rows unencrypted, even if the profile's backups are encrypted.")
    var plain = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask, unless something is a guess (exit code 26).")
    var yes = false

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    var logged: Run.Command? { dryRun ? nil : .sync }
    var ownFlags: [FlagValue?] {
        [
            FlagValue("--container", "sync.container", container),
            FlagValue("--group", "sync.group", group),
            FlagValue("--map", "sync.map", map),
        ]
    }

    func validate() throws {
        guard device.map({ (1...1024).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("'--device' takes a name of 1 to 1,024 bytes")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        guard plain || invocation.profile.keys.recipients.isEmpty else {
            throw CommandError.syncIsPlain
        }
        let places = try SyncInputs(invocation).places()
        guard let container = SyncInputs(invocation).container else {
            throw SyncError.noContainerNamed
        }
        var options = EnableSync.Options(container: container, device: device ?? Self.machine)
        options.group = invocation.profile.sync.group
        if let path = invocation.profile.sync.map {
            options.map = try SyncInputs(invocation).map(at: path)
        }
        (options.exclude, options.match, options.isDryRun) = (exclude, match, dryRun)
        let outcome = try await EnableSync(
            in: places,
            options: options,
            running: SyncInputs(invocation).options
        ).run(places.store(named: store)) { plan in
            // A dry run's answer is the plan.
            if dryRun { return true }
            if yes, let doubt = plan.doubt { throw doubt }
            if !output.json { invocation.console.show(plan) }
            let verb = plan.look.begins ? "begin" : "join"
            let deletions = Int(plan.join?.deletions ?? 0)
            let loss =
                deletions == 0
                ? ""
                : " \(counted(deletions, "row is", "rows are")) deleted here, as on other devices."
            return try invocation.confirm(
                "Let '\(plan.store)' \(verb) '\(plan.group)' in '\(plan.container)'?\(loss)",
                yes: yes
            )
        }
        guard let outcome else { return .declined }
        let answer = SyncEnableAnswer(outcome: outcome, isDryRun: dryRun, invocation: invocation)
        try invocation.console.answer(answer)
        return outcome.synced.map { SyncInputs(invocation).result(of: [$0]) }
            ?? CommandResult(.done)
    }

    /// The machine's name without its domain.
    private static var machine: String {
        let name = ProcessInfo.processInfo.hostName.split(separator: ".").first.map(String.init)
        return name ?? "device"
    }
}

extension JoinMatch: ExpressibleByArgument {
    public init?(argument: String) {
        guard let match = Self.allCases.first(where: { $0.rawValue == argument }) else {
            return nil
        }
        self = match
    }
}
