internal import Files
public import Foundation
public import SystemPackage

/// A file in a remote folder.
public struct RemoteFile: Sendable, Equatable {
    public var name: String
    /// The size in bytes.
    public var size: Int64
    /// The file's path, if it can be read on this machine without downloading it.
    public var location: FilePath?
    /// The file's modification time, if the folder reports one; a copy may have another.
    public var modified: Date?
    /// The hash at its upload from this machine, if the remote knows one.
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

    /// Returns whether both are the same file; the time is ignored.
    public static func == (left: RemoteFile, right: RemoteFile) -> Bool {
        left.name.exact == right.name.exact && left.size == right.size
            && left.location == right.location
    }
}

/// An entry of a remote folder that cannot be read as a file.
public struct PassedOverFile: Sendable {
    public var name: String
    public var reason: String

    public init(name: String, reason: String) { (self.name, self.reason) = (name, reason) }
}
