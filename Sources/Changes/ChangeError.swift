public import Files

/// A file of the container that is not read; the payload names it.
public enum ChangeError: ExplainedError, Equatable {
    /// It is cut, half there, or changed: what its last bytes say is not so. It may yet become whole.
    case incomplete(String)
    /// A newer version wrote it: left alone, and told.
    case newer(String, version: UInt16)
    /// It is of a kind that this version does not know: left alone.
    case unknownKind(String, kind: UInt8)
    /// It is of another kind than the one that was asked for.
    case otherKind(String, kind: FileKind)
    /// It is encrypted, which this version cannot undo.
    case encrypted(String)
    /// It is whole, and breaks the format: refused, all of it.
    case malformed(String, reason: String)
    /// What should be written does not fit the format's limits.
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
