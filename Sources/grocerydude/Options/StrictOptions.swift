internal import ArgumentParser

/// Whether a remark of a full check is damage.
struct StrictOptions: ParsableArguments {
    @Flag(help: "With a full check: rows that refer to rows that are not there are damage.")
    var strict = false

    /// Throws a `UsageError` if the check in force is not full, so that the option has no effect.
    func require(_ isFull: Bool, add flag: String) throws {
        guard !strict || isFull else {
            throw UsageError("'--strict' needs a full check: add '\(flag)'", fullMessage: "")
        }
    }
}
