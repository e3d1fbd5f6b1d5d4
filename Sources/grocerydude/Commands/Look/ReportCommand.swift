internal import ArgumentParser
internal import Files
internal import Foundation
internal import Operations
internal import SystemPackage

struct ReportCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "report",
        "Write one page about all backups, for a browser or a mail.",
        discussion: """
            The page has problems first, then for each profile of the configuration: a calendar of runs, the \
            backups with what retention will do to each, sizes, the rows of the largest tables, checks, origins, \
            and devices in sync. With '--profile', '--stores' or '--remote' it has these backups only.

            It is one file without scripts, and nothing is fetched for it. If a folder is away, it shows what is \
            remembered of it, and the exit code says so. An existing file is replaced only if it is a report.
            """,
        example: "grocerydude report --open",
        "grocerydude report --html /var/www/backups.html"
    )

    @Option(
        help: "The file to write; '-' is standard output.".value("file"),
        completion: .file(extensions: ["html"])
    )
    var html: String?

    @Flag(help: "Open the page in a browser; without '--html' it is kept in the cache.")
    var open = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    private var isToOutput: Bool { html == "-" }

    func validate() throws {
        guard html != nil || open else {
            throw ValidationError("name a file with '--html FILE', or use '--open'")
        }
        try refuseEmpty(html, "'--html'")
        guard !isToOutput || !open && !output.json else {
            throw ValidationError("'--html -' goes with neither '--open' nor '--json'")
        }
    }

    var output: OutputOptions { folder.output }

    func run(on console: Console) async throws -> ExitStatus {
        let invocations = try profiles().map { Invocation($0, console) }
        guard let first = invocations.first else { return .done }
        let file = isToOutput ? nil : try ReportFile(at: path())
        var page = ReportPage(now: first.now, timeZone: first.timeZone, tool: first.tool)
        var worst = ExitStatus.done
        for invocation in invocations {
            let failure: (any Error)?
            do {
                let profile = try await ReportedProfile(invocation)
                page.profiles.append(profile)
                failure = profile.report.unreachable
                await CommandRun(invocation).saveCatalog()
            } catch let error where !(error is CancellationError) && invocations.count > 1 {
                // The page of the other profiles is worth having.
                page.failures.append((invocation.profile.name ?? "", error))
                failure = error
            }
            if let failure { worst = .worse(worst, invocation.failure(failure).status) }
        }
        try await write(page, to: file, console)
        return worst
    }

    /// Returns the profiles of the report: all of the configuration, unless an option or a variable names one of them
    /// or other places.
    private func profiles() throws -> [Profile] {
        let (stores, remote) = (folder.stores, folder.remote)
        let flags = stores.flags + remote.flags + folder.keys.flags
        let configuration = try Configuration(stores.configuration)
        let named = [
            stores.configuration.chosenProfile, stores.path, stores.origin, remote.address,
            ProcessEnvironment.value("GROCERYDUDE_STORES"),
            ProcessEnvironment.value("GROCERYDUDE_REMOTE"),
        ]
        guard !configuration.names.isEmpty, named.allSatisfy({ $0 == nil }) else {
            return [try configuration.profile(flags)]
        }
        return try configuration.allProfiles(flags)
    }

    private func path() throws -> FilePath {
        if let html {
            return FilePath(FileManager.default.currentDirectoryPath).pushing(FilePath(html))
        }
        let cache = FilePath(ProcessEnvironment.cache + "/grocerydude")
        try LocalFileSystem().createDirectories(cache)
        return cache.appending("report.html")
    }

    private func write(_ page: ReportPage, to file: ReportFile?, _ console: Console) async throws {
        let html = page.html
        guard let file else { return console.answer(text: html) }
        try file.write(html)
        try console.answer(
            ReportAnswer(page: page, path: printable(file.path), size: html.utf8.count)
        )
        guard open else { return }
        do {
            try await SystemProgram.check("xdg-open", [file.path.string])
        } catch ScheduleError.noProgram(let name) {
            throw CommandError.noBrowser(name, page: printable(file.path))
        }
    }
}
