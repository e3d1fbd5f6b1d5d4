/// The names of files that are being written: hidden, and never listed as a backup.
public enum PartialName {
    public static let prefix = ".grocerydude-"
    static let suffix = ".partial"

    /// Returns a name that nobody else has.
    public static func make() -> String {
        "\(prefix)\(UInt64.random(in: 0 ... .max))\(suffix)"
    }

    /// Returns whether a name is one of those.
    public static func matches(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
    }
}
