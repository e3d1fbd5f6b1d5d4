internal import ArgumentParser
internal import Files
internal import Operations
internal import Sample
internal import SystemPackage

struct InitCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        "init",
        "Create a sample store, a grocery list, to try things with.",
        discussion: """
            With '--from', the data of the first directory in the list that has a store, be it of this or any \
            application, is copied instead. Nothing is changed there, and it may be in use.
            """,
        example: "grocerydude init --test-data",
        "grocerydude init --update",
        "grocerydude init --stores ~/app/Stores --from ~/app/data ~/Documents/app"
    )

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    @Flag(help: "Add about 20 MB of items with photos, which are files beside the store.")
    var testData = false

    @Flag(help: "Add this version's default data that the store never had; nothing twice.")
    var update = false

    @Option(
        parsing: .upToNextOption,
        help:
            "Copy the stores directory from the first of these places that has a store."
            .value("dir"),
        completion: .directory
    )
    var from: [String] = []

    @Flag(name: .shortAndLong, help: "Create the store beside other data in the directory.")
    var yes = false

    func validate() throws {
        guard [testData, update, !from.isEmpty].count(where: \.self) < 2 else {
            throw ValidationError("'--test-data', '--update' and '--from' exclude each other")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        guard from.isEmpty else { return try await copy(invocation) }
        let path = invocation.stores.appending(GroceryStore.fileName).string
        guard !update else {
            let store = try GroceryStore(in: invocation.stores)
            let added = try store.update()
            let facts: JSONObject = [
                "path": path, "added": added, "items": try store.items().count,
            ]
            let line =
                added == 0
                ? "'\(path)' has all of the default data"
                : "added \(counted(added, "row", "rows")) of the default data to '\(path)'"
            return try invocation.done(line, facts)
        }
        let store = try GroceryStore.create(
            in: invocation.stores,
            besideOthers: yes,
            withTestData: testData
        )
        let count = try store.items().count
        return try invocation.done(
            "created '\(path)' with \(count) items",
            ["path": path, "items": count]
        )
    }

    private func copy(_ invocation: Invocation) async throws -> CommandResult {
        let outcome = try await CopyStores(
            from: from.map { FilePath($0) },
            at: invocation.now,
            tool: invocation.tool,
            context: invocation.context
        ).run(to: invocation.stores)
        let (path, source) = (invocation.stores.string, printable(outcome.source))
        let facts: JSONObject = [
            "path": path, "from": source, "stores": outcome.stores, "files": outcome.files,
        ]
        let counts = [
            counted(outcome.stores, "store", "stores"), counted(outcome.files, "file", "files"),
            byteCount(outcome.bytes),
        ].joined(separator: ", ")
        let line = "copied '\(source)' to '\(path)': \(counts)"
        return try invocation.done(line, facts, problems: outcome.problems)
    }
}
