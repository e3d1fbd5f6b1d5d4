public import Foundation
public import SystemPackage

/// A file in a remote folder.
public struct RemoteFile: Sendable, Equatable {
    public var name: String
    /// Bytes.
    public var size: Int64
    /// The file's path, if it can be read on this machine without downloading it.
    public var location: FilePath?
    /// The file's own modification time, if the folder tells one; a copy may have another.
    public var modified: Date?
    /// The hash that it had when it was uploaded from here, if the remote knows one.
    public var hash: RemoteHash?

    public init(
        name: String,
        size: Int64,
        location: FilePath? = nil,
        modified: Date? = nil
    ) {
        self.name = name
        self.size = size
        self.location = location
        self.modified = modified
    }

    /// Returns whether both are one file; its time is no part of it.
    public static func == (left: RemoteFile, right: RemoteFile) -> Bool {
        left.name == right.name && left.size == right.size && left.location == right.location
    }
}
