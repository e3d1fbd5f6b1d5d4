internal import ArgumentParser
internal import Stores
internal import SystemPackage

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a sample store, a grocery list, to try things with.",
        discussion: """
            EXAMPLE
              grocerydude init --test-data

            \(ExitStatus.help)
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Add about 20 MB of items with photos, which are files beside the store.")
    var testData = false

    func run() async throws {
        try await Session.run(output, stores) { session in
            let count = try GroceryStore.create(in: session.stores, withTestData: testData)
                .items().count
            let path = session.stores.appending(GroceryStore.fileName).string
            if output.json {
                try session.console.answer(json: Answer(path: path, items: count))
            } else {
                session.console.done("created '\(path)' with \(count) items")
            }
            return .done
        }
    }

    /// The answer in JSON.
    private struct Answer: Encodable {
        var path: String
        var items: Int
    }
}
