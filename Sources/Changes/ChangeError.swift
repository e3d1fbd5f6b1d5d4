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
    /// The file has a clock that is too far ahead. It is left alone until that time is near.
    case ahead(String, clock: UInt64)
    /// The file says that it covers others, and does not hold their content. It is not relied on.
    case unproven(String)
    /// The data to write exceeds the format's limits.
    case beyondLimit(String)

    /// Whether only a newer version of the program can read the file.
    public var isOfVersion: Bool {
        switch self {
        case .newer, .unknownKind, .encrypted: true
        case .incomplete, .otherKind, .malformed, .ahead, .unproven, .beyondLimit: false
        }
    }

    public var description: String {
        switch self {
        case .incomplete(let name): "'\(name)' is incomplete or damaged: its hash differs"
        case .newer(let name, let version):
            "'\(name)' cannot be read: its format version is \(version)"
        case .unknownKind(let name, let kind):
            "'\(name)' cannot be read: its kind \(kind) is unknown"
        case .otherKind(let name, let kind): "'\(name)' cannot be used: it is a \(kind)"
        case .encrypted(let name): "'\(name)' cannot be read: it is encrypted"
        case .malformed(let name, let reason): "'\(name)' is refused: \(reason)"
        case .ahead(let name, let clock):
            "'\(name)' is refused: its clock shows the year \(HybridClock.year(of: clock))"
        case .unproven(let name):
            "'\(name)' is refused: it claims to cover files whose content it lacks"
        case .beyondLimit(let reason): "a change cannot be written: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .incomplete: "if this persists, publish again from the device that wrote it"
        case .newer, .unknownKind, .encrypted: "update this program"
        case .ahead:
            "check this machine's clock, and who can write to the container"
        case .otherKind, .malformed, .unproven:
            "another program wrote it, or somebody with malice: check who can write to the container"
        case .beyondLimit: "leave the table out, or make its rows smaller"
        }
    }
}
