/// A number that an application keeps in its store's header, if it differs between two states.
public struct HeaderNumber: Sendable, Equatable, Codable {
    /// `user_version` or `application_id` (https://www.sqlite.org/pragma.html#pragma_user_version).
    public var name: String
    public var old: Int64
    public var new: Int64
}

extension StoreDiff {
    private static let numberNames = ["user_version", "application_id"]

    /// Returns the numbers in the stores' headers that differ.
    ///
    /// - Throws: `StoreError`.
    public func numbers() throws -> [HeaderNumber] {
        try reading {
            try Self.numberNames.compactMap { name in
                let values = try [old, new].map { try $0.number("PRAGMA main.\(name)") }
                guard values[0] != values[1] else { return nil }
                return HeaderNumber(name: name, old: values[0], new: values[1])
            }
        }
    }
}
