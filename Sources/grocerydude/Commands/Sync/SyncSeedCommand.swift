internal import ArgumentParser
internal import Files
internal import Operations
internal import Stores
internal import SystemPackage

struct SyncSeedCommand: ExchangingCommand {
    static let configuration = CommandConfiguration(
        "seed",
        "Fill the container with all that this machine knows.",
        discussion: """
            Use it for a container that was emptied or is new. Devices that know more add it with their next run.

            With '--map' a new map is published instead, for all devices. If it leaves out anything that \
            synced, or knows rows by other columns, each device asks first (exit code 26).
            """,
        example: "grocerydude sync seed",
        "grocerydude sync seed --map map.json"
    )

    @OptionGroup var stores: SyncedStoresOption

    @Option(
        help: "Publish this map for the group: a JSON file.".value("file"),
        completion: .file(extensions: ["json"])
    )
    var map: String?

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    var logged: Run.Command? { .sync }

    func exchange(_ invocation: Invocation) async throws -> CommandResult {
        if let map { return try await publish(FilePath(map), invocation) }
        let question = "Fill the container with all rows that this machine knows?"
        guard try invocation.confirm(question, yes: yes) else { return .declined }
        return try await SyncInputs(invocation).exchange(
            stores.store,
            acceptsChanges: false,
            refills: true
        )
    }

    private func publish(_ path: FilePath, _ invocation: Invocation) async throws -> CommandResult {
        let map = try SyncInputs(invocation).map(at: path)
        let places = try SyncInputs(invocation).places()
        let enabled = try places.enabled(named: stores.store)
        guard enabled.count == 1, let store = enabled.first else {
            throw SyncError.severalStores(enabled.map(\.path.description), in: places.directory)
        }
        let question = "Use this map on all devices that share '\(store.path)'?"
        guard try invocation.confirm(question, yes: yes) else { return .declined }
        try await places.publish(map, of: store, at: invocation.now, program: invocation.tool)
        return try await SyncInputs(invocation).exchange(
            [store.path.description],
            acceptsChanges: false
        )
    }
}
