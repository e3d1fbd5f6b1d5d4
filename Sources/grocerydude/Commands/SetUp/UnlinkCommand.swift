internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations

struct UnlinkCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "unlink",
        "Stop sending a profile's backups to its folder.",
        discussion: """
            This removes the setting that 'link' wrote, and installed schedules. The machine forgets the \
            folder. The backups in it stay, and so does the data.
            """,
        example: "grocerydude unlink --profile photos"
    )

    @OptionGroup(title: HelpSection.common) var options: ConfigurationOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    @Flag(help: "Remove the files of schedules, and stop nothing.")
    var noEnable = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    func run(on console: Console) async throws -> ExitStatus {
        console.hint(in: options.hinted)
        let place = try LinkedPlace(options, mayBeMissing: false)
        let linked = try place.remote
        let flag = FlagValue("the configuration", "remote", linked?.address)
        let profile = try Configuration(options).profile([flag])
        let invocation = Invocation(profile, console)
        var answer = UnlinkAnswer(
            profile: place.profile,
            stores: printable(invocation.absolute(invocation.stores)),
            dryRun: dryRun
        )
        guard let linked else {
            try console.answer(answer)
            return .done
        }
        answer.remote = invocation.address
        guard linked.isOwn || place.profilesCount < 2 else {
            throw CommandError.linkedForAll(invocation.address, at: linked.origin.description)
        }
        let home = linked.isOwn ? place.profile : nil
        let change: LinkedPlace.Changes = [("remote", nil)]
        try place.text(with: change, in: home)
        let folder = try invocation.folder()
        if let backups = try? await folder.list().backups {
            answer.backups = backups.count
            answer.size = backups.reduce(0) { $0.addingSaturated($1.size) }
        }
        let question = "Unlink '\(invocation.address)'? The backups in it stay."
        guard try invocation.confirm(question, yes: yes || dryRun) else { return .failed }
        answer.schedules =
            try await ScheduleInstallation
            .remove(profile.name, disabling: !noEnable, isDryRun: dryRun)
        if !dryRun {
            try await place.write(change, in: home)
            let left = try await invocation.context.unlink(folder)
            if let left { console.note("'\(left)' was left: there is more in it") }
        }
        try console.answer(answer)
        return .done
    }
}
