/// The owner and the group of a file, as numbers.
public struct Owner: Sendable, Equatable {
    public var user: UInt32
    public var group: UInt32

    public init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }
}
