/// A setting that is said on the command line.
struct FlagValue {
    /// As it is written there: `--stores`.
    var name: String
    /// The setting's key.
    var key: String
    var value: String

    /// Returns `nil` if the option was not given.
    init?(_ name: String, _ key: String, _ value: String?) {
        guard let value else { return nil }
        self.name = name
        self.key = key
        self.value = value
    }
}
