internal import ArgumentParser
internal import Files
internal import Operations
internal import SystemPackage

/// How a backup may be built on others.
struct IncrementFlags: ParsableArguments {
    @Flag(help: "Save only what is different from an earlier backup, if that is there.")
    var incremental = false

    @Flag(help: "With '--incremental': make a whole backup, on which others may be built.")
    var full = false

    @Flag(help: "With '--incremental': read every file, however its times stand.")
    var reread = false

    func validate() throws {
        guard !full || !reread else {
            throw ValidationError("'--full' reads every file: leave '--reread' away")
        }
    }

    var flags: [FlagValue?] {
        [FlagValue("--incremental", "incremental", incremental ? "true" : nil)]
    }

    /// Returns the choices; `nil` if each backup is to be whole, and to stand alone.
    func options(_ invocation: Invocation) -> IncrementOptions? {
        guard invocation.profile.isIncremental else { return nil }
        let place = "\(printable(invocation.stores))\n\(invocation.address)"
        let directory = ProcessEnvironment.cache + "/grocerydude/state/"
        let path = FilePath(directory + Invocation.shortDigest(of: place) + ".sqlite")
        var options = IncrementOptions(statePath: path)
        options.isFull = full
        options.rereads = reread
        options.fullEvery = invocation.profile.fullEvery
        return options
    }
}
