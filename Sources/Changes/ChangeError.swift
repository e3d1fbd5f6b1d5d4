public import Files

/// An error for a file of the container that cannot be read; the payload names the file.
public enum ChangeError: ExplainedError, Equatable {
    /// The file is truncated, half transferred or changed: its last bytes are not its hash. It may still become
    /// complete.
    case incomplete(String)
    /// A newer version wrote the file. It is left alone, and reported.
    case newer(String, version: UInt16)
    /// The file is of a kind that this version does not know. It is left alone.
    case unknownKind(String, kind: UInt8)
    /// The file is of another kind than the requested one.
    case otherKind(String, kind: FileKind)
    /// The file is encrypted. This version cannot decrypt it.
    case encrypted(String)
    /// The file is complete, but breaks the format. All of it is refused.
    case malformed(String, reason: String)
    /// The data to write exceeds the format's limits.
    case beyondLimit(String)

    /// Whether only a newer version of the program can read the file.
    public var isOfVersion: Bool {
        switch self {
        case .newer, .unknownKind, .encrypted: true
        case .incomplete, .otherKind, .malformed, .beyondLimit: false
        }
    }

    public var description: String {
        switch self {
        case .incomplete(let name): "'\(name)' is not complete, or damaged: its hash is another"
        case .newer(let name, let version):
            "'\(name)' cannot be read: it is of version \(version) of the format"
        case .unknownKind(let name, let kind):
            "'\(name)' cannot be read: it is of the unknown kind \(kind)"
        case .otherKind(let name, let kind): "'\(name)' cannot be used: it is a \(kind)"
        case .encrypted(let name): "'\(name)' cannot be read: it is encrypted"
        case .malformed(let name, let reason): "'\(name)' is refused: \(reason)"
        case .beyondLimit(let reason): "a change cannot be written: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .incomplete: "if it stays so, let the device that wrote it publish again"
        case .newer, .unknownKind, .encrypted: "update this program"
        case .otherKind, .malformed:
            "a program that is not ours wrote it, or with malice: see who can write to the container"
        case .beyondLimit: "leave the table out, or make its rows smaller"
        }
    }
}
