/// A setting from the command line; `nil` stands for an option that was not given.
struct FlagValue {
    /// As it is written there: `--stores`.
    var name: String
    /// The setting's key.
    var key: String
    var value: String

    init?(_ name: String, _ key: String, _ value: String?) {
        guard let value else { return nil }
        self.name = name
        self.key = key
        self.value = value
    }
}
