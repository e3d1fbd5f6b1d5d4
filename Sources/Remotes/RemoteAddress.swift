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
    ///
    /// The path of a remote is taken without needless parts, since the address is the key of the folder's catalog, locks and
    /// log.
    public init(_ text: String) {
        self =
            text.hasPrefix(Self.scheme)
            ? .rclone(Self.normalized(String(text.dropFirst(Self.scheme.count)))) : .directory(text)
    }

    /// Parses an address that a person wrote, and refuses one that is likely to mean another folder.
    ///
    /// - Parameters:
    ///   - text: the address.
    ///   - directory: the directory of relative paths; empty for the working directory.
    /// - Throws: `AddressError`.
    public init(written text: String, in directory: FilePath = "") throws(AddressError) {
        self.init(text)
        switch self {
        case .rclone(let place) where Self.path(in: place) == nil:
            throw .noRemote(RcloneMask(place).shown)
        case .directory(let path) where Self.looksLikeRemote(path):
            let isThere = (try? FileInfo.ifPresent(directory.pushing(FilePath(path)))) != nil
            if !isThere { throw .meansRclone(RcloneMask(path).shown) }
        default: break
        }
    }

    /// Returns a place without slashes at the end, doubled slashes, and `.` in its path; a path from the root stays one.
    private static func normalized(_ place: String) -> String {
        guard let path = path(in: place) else { return place }
        // Of a URL that was meant as an option, the form shows what must be hidden.
        if path.starts(with: "//".unicodeScalars), path.contains("@") { return place }
        let names = path.split(separator: "/").map(String.init).filter { $0 != "." }
        let root = path.first == "/" ? "/" : ""
        return String(place.unicodeScalars[..<path.startIndex]) + root
            + names.joined(separator: "/")
    }

    /// Returns the path in a place that rclone takes for `REMOTE:PATH` or `:BACKEND:PATH`, with options or without
    /// (https://rclone.org/docs/#syntax-of-remote-paths); `nil` if it takes the place for a path of this machine.
    private static func path(in place: String) -> Substring.UnicodeScalarView? {
        // An accent at the beginning of the path would form one character with the colon.
        let scalars = place.unicodeScalars
        let rest = scalars.first == ":" ? scalars.dropFirst() : scalars[...]
        let name = rest.prefix { ![":", ",", "/"].contains($0) }
        let options = rest.dropFirst(name.count)
        guard !name.isEmpty, options.first != "/" else { return nil }
        var (quote, before): (Unicode.Scalar?, Unicode.Scalar?)
        for (index, scalar) in zip(options.indices, options) {
            if quote != nil {
                if scalar == quote { quote = nil }
            } else if scalar == ":" {
                return options[options.index(after: index)...]
            } else if before == "=", scalar == "\"" || scalar == "'" {
                quote = scalar
            }
            before = scalar
        }
        return nil
    }

    /// Returns whether a text has the form `REMOTE:PATH`, which as a path is unusual.
    private static func looksLikeRemote(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":") else { return false }
        return !text[..<colon].contains("/")
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
