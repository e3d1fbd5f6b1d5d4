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
        case .incomplete(let name): "'\(name)' is not complete, or damaged: its hash is another"
        case .newer(let name, let version):
            "'\(name)' cannot be read: it is of version \(version) of the format"
        case .unknownKind(let name, let kind):
            "'\(name)' cannot be read: it is of the unknown kind \(kind)"
        case .otherKind(let name, let kind): "'\(name)' cannot be used: it is a \(kind)"
        case .encrypted(let name): "'\(name)' cannot be read: it is encrypted"
        case .malformed(let name, let reason): "'\(name)' is refused: \(reason)"
        case .ahead(let name, let clock):
            "'\(name)' is refused: by its clock it is of the year \(HybridClock.year(of: clock))"
        case .unproven(let name):
            "'\(name)' is refused: it lacks content of files that it says it covers"
        case .beyondLimit(let reason): "a change cannot be written: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .incomplete: "if it stays so, let the device that wrote it publish again"
        case .newer, .unknownKind, .encrypted: "update this program"
        case .ahead:
            "see that the clock of this machine is right, and who can write to the container"
        case .otherKind, .malformed, .unproven:
            "a program that is not ours wrote it, or with malice: see who can write to the container"
        case .beyondLimit: "leave the table out, or make its rows smaller"
        }
    }
}
