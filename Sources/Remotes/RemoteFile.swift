public import SystemPackage

/// A file in a remote folder.
public struct RemoteFile: Sendable, Equatable {
    public var name: String
    /// Bytes.
    public var size: Int64
    /// The file's path, if it can be read on this machine without downloading it.
    public var location: FilePath?
    /// The hash that it had when it was uploaded from here, if the remote knows one.
    public var hash: RemoteHash?

    public init(name: String, size: Int64, location: FilePath? = nil) {
        self.name = name
        self.size = size
        self.location = location
    }
}
