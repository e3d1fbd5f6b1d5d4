/// The space in the place that a remote folder is in, in bytes, as far as that tells.
public struct RemoteSpace: Sendable, Equatable, Codable {
    public var total: Int64?
    public var used: Int64?
    public var free: Int64?

    public init(total: Int64? = nil, used: Int64? = nil, free: Int64? = nil) {
        self.total = total
        self.used = used
        self.free = free
    }
}
