internal import ArgumentParser
internal import Files
internal import Operations
internal import Remotes
internal import SystemPackage

struct LinkCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "link",
        "Send a profile's backups to a folder, which is made and tried out.",
        discussion: """
            The folder is a directory, 'rclone:REMOTE:PATH', or one of rclone's providers: dropbox, drive, \
            onedrive, s3, sftp, webdav and whatever else 'rclone help backends' names. For a provider, rclone's \
            own configuration runs on the terminal, unless it has a remote of that name already; the folder \
            is then '--path' in it.

            A small file is written to the folder, listed, read back, renamed and deleted. Then the folder is \
            written into a piece of the configuration, 'config.d/PROFILE.yaml' beside its file. That file \
            itself stays as it is, and wins over pieces.

            '--check' links nothing. It says whether backups can be kept in the folder, and what is wrong, in \
            the order in which a person would look.
            """,
        example: "grocerydude link ~/Dropbox/Backups --profile photos --stores ~/Photos/Stores",
        "grocerydude link rclone:nas:backups/app",
        "grocerydude link --check"
    )

    @Argument(
        help:
            "A directory, 'rclone:REMOTE:PATH', or a provider; with '--check', else the linked one.",
        completion: .directory
    )
    var folder: String?

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    @Option(
        help:
            "The folder in a provider's remote; S3 and the like need a bucket's name first."
            .value("path")
    )
    var path = usualPath

    /// The folder in a provider's remote, if none is named.
    static let usualPath = "Apps/Grocery Dude"

    @Flag(help: "Replace the linked folder or the stores directory; the backups there stay.")
    var replace = false

    @Flag(help: "Only find out whether backups can be kept in the folder.")
    var check = false

    func validate() throws { try refuseEmpty(folder, "the folder") }

    func run(on console: Console) async throws -> ExitStatus {
        guard folder != nil || check else { throw CommandError.nothingToLink }
        var target: LinkTarget?
        if let folder { target = try await LinkTarget(folder, path: path) }
        return check
            ? try await check(target, console) : try await link(target, console)
    }

    private func check(_ target: LinkTarget?, _ console: Console) async throws -> ExitStatus {
        let flag = FlagValue("the folder", "remote", target?.address)
        let profile = try Configuration(stores.configuration).profile(stores.flags + [flag])
        let invocation = Invocation(profile, console)
        let outcome = try await probe(invocation).run()
        try console.answer(ProbeAnswer(outcome: outcome, remote: invocation.address))
        if let error = outcome.error { throw error }
        return outcome.findings.contains { $0.isDoubtful } ? .partial : .done
    }

    private func link(_ target: LinkTarget?, _ console: Console) async throws -> ExitStatus {
        guard let target else { throw CommandError.nothingToLink }
        let place = try LinkedPlace(stores.configuration, mayBeMissing: true)
        var profile = Profile(name: place.profile)
        profile.remote = target.address
        profile.origins["remote"] = .flag("the folder")
        let invocation = Invocation(profile, console)
        var answer = LinkAnswer(profile: place.profile, remote: invocation.address)
        // A new profile may have another folder than all profiles.
        let linked = try place.remote.flatMap { place.isNew && !$0.isOwn ? nil : $0 }
        let old = linked.map { invocation.place($0.address) }
        if old == invocation.place, stores.path == nil, let file = linked?.origin.file {
            (answer.configuration, answer.isOld) = (file, true)
            answer.facts = try await FolderFacts(of: invocation.folder())
            try console.answer(answer)
            return .done
        }
        let isNew = old != invocation.place || linked?.isOwn == false
        let changes: LinkedPlace.Changes = [
            ("stores", stores.path.map { invocation.absolute(.init($0)).string }),
            ("remote", isNew ? invocation.place : nil),
        ].filter { $0.value != nil }
        // The change is prepared first, since a person's file may decide the settings.
        try place.text(with: changes, in: place.profile)
        try await refuseOther(place, than: old, invocation)
        try await target.configure(on: console)
        answer.facts = try await makeFolder(of: invocation, console)
        try await nameFirst(place, invocation)
        try await place.write(changes, in: place.profile)
        answer.replaced = old == invocation.place ? nil : old.map(invocation.address)
        answer.configuration = place.piece(of: place.profile).string
        try console.answer(answer)
        if ProcessEnvironment.value("GROCERYDUDE_REMOTE") != nil {
            console.warn("GROCERYDUDE_REMOTE is set, and wins over the configuration")
        }
        return .done
    }

    /// Gives the settings without a profile a name, before another profile would hide them.
    private func nameFirst(_ place: LinkedPlace, _ invocation: Invocation) async throws {
        guard let unnamed = try place.unnamed else { return }
        try await place.write([("remote", invocation.place(unnamed))], in: "default")
        invocation.console.message(
            "the settings so far, for '\(invocation.address(unnamed))', are the profile 'default' now"
        )
    }

    /// Refuses to replace the profile's places without a word, and a folder in its stores directory.
    private func refuseOther(
        _ place: LinkedPlace,
        than old: String?,
        _ invocation: Invocation
    ) async throws {
        if let old, old != invocation.place, !replace {
            throw CommandError.alreadyLinked(profile: place.profile, to: invocation.address(old))
        }
        let path = try invocation.absolute(stores.path.map { FilePath($0) } ?? place.stores)
        if !place.isNew, let present = try place.ownStores.map(invocation.absolute), !replace,
            present != path
        {
            throw CommandError.ofOtherStores(profile: place.profile, printable(present))
        }
        try await invocation.context.refuse(invocation.folder(), in: path)
    }

    /// Makes the folder and tries it out, and returns its facts; doubts become warnings.
    private func makeFolder(
        of invocation: Invocation,
        _ console: Console
    ) async throws -> FolderFacts {
        let probe = try probe(invocation)
        try await probe.make()
        let outcome = try await probe.run()
        if let error = outcome.error { throw error }
        for finding in outcome.findings where finding.isDoubtful {
            console.warn("\(finding.step.rawValue): \(finding.what)")
        }
        return outcome.facts
    }

    private func probe(_ invocation: Invocation) throws -> ProbeFolder {
        ProbeFolder(try invocation.folder(), now: invocation.now, context: invocation.context)
    }
}
