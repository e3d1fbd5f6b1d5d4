internal import ArgumentParser
internal import Files
internal import Operations
internal import SystemPackage

/// The options for increments.
struct IncrementFlags: ParsableArguments {
    @Flag(
        help: "Save only what differs from an earlier backup; stores below 16 MiB are saved whole."
    )
    var incremental = false

    @Flag(help: "With '--incremental': make a full backup, on which others may be built.")
    var full = false

    var flags: [FlagValue?] {
        [FlagValue("--incremental", "incremental", incremental ? "true" : nil)]
    }

    /// Returns the options; `nil` if all backups are full and independent.
    func options(_ invocation: Invocation) -> IncrementOptions? {
        guard invocation.profile.isIncremental else { return nil }
        let place = "\(printable(invocation.stores))\n\(invocation.address)"
        let directory = ProcessEnvironment.cache + "/grocerydude/state/"
        let path = FilePath(directory + Invocation.shortDigest(of: place) + ".sqlite")
        var options = IncrementOptions(statePath: path)
        options.isFull = full
        options.rereads = invocation.profile.rereads
        options.fullEvery = invocation.profile.fullEvery
        return options
    }
}
