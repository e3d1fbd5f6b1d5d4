internal import Files
public import SystemPackage

/// The address of a remote folder, in the form of `--remote`.
///
/// A new kind of remote folder has a case here, and its implementation of `RemoteFolder`.
public enum RemoteAddress: Sendable, Equatable {
    /// The path of a directory on this machine.
    case directory(String)
    /// rclone's name of a folder, `remote:path`, which may contain secrets.
    case rclone(String)

    private static let scheme = "rclone:"

    /// Parses an address: a path, or `rclone:remote:path`.
    public init(_ text: String) {
        self =
            text.hasPrefix(Self.scheme)
            ? .rclone(String(text.dropFirst(Self.scheme.count))) : .directory(text)
    }

    /// The address as it is used, which may contain secrets.
    public var text: String {
        switch self {
        case .directory(let path): path
        case .rclone(let place): Self.scheme + place
        }
    }

    /// The address without secrets, for people and for the memory of this machine.
    public var shown: String {
        switch self {
        case .directory(let path): path
        case .rclone(let place): Self.scheme + RcloneMask(place).shown
        }
    }

    /// Whether the address may contain a secret: rclone's may have options, such as a password.
    public var mayHaveSecret: Bool {
        if case .rclone(let place) = self { place.contains(",") } else { false }
    }

    /// The address without a scheme, for people.
    public var place: String {
        switch self {
        case .directory(let place), .rclone(let place): place
        }
    }

    /// Whether rclone reaches the folder.
    public var isOfRclone: Bool {
        if case .rclone = self { true } else { false }
    }

    /// Returns the same address, independent of the working directory.
    ///
    /// - Parameter absolute: returns the absolute form of a path.
    /// - Returns: the address.
    public func absolute(_ absolute: (FilePath) -> FilePath) -> RemoteAddress {
        guard case .directory(let path) = self else { return self }
        return .directory(absolute(FilePath(path)).string)
    }
}
