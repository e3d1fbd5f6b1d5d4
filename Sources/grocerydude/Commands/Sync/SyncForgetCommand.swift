internal import ArgumentParser
internal import Files
internal import Operations
internal import Stores

struct SyncForgetCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        "forget",
        "Stop waiting for a device that is gone.",
        discussion: """
            Other devices may then remove its files, once a baseline covers them. If it comes back, it goes on \
            under a new id, and loses nothing.
            """,
        example: "grocerydude sync forget phone"
    )

    @Argument(help: "The device: its name, or the first digits of its id.")
    var device: String

    @OptionGroup var store: SyncedStoreOption

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let places = try SyncInputs(invocation).places()
        let only = try store.only(in: places)
        guard try invocation.confirm("Forget the device '\(device)'?", yes: yes) else {
            return .declined
        }
        let name = try await places.forget(
            device: device,
            of: only,
            at: invocation.now,
            program: invocation.tool
        )
        return try invocation.done(
            "'\(name)' is forgotten: the other devices learn of it with the next exchange",
            ["device": name]
        )
    }
}
