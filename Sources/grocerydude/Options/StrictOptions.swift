internal import ArgumentParser

/// Whether a remark of a full check is damage.
struct StrictOptions: ParsableArguments {
    @Flag(help: "With a full check: rows that refer to rows that are not there are damage.")
    var strict = false

    /// Throws a `UsageError` if the option would have no effect.
    ///
    /// - Parameters:
    ///   - isFull: whether SQLite checks all of every store, by the settings in force.
    ///   - flag: the flag that makes it so.
    func require(_ isFull: Bool, add flag: String) throws {
        guard !strict || isFull else {
            throw UsageError("'--strict' needs a full check: add '\(flag)'", fullMessage: "")
        }
    }
}
