public import Files
public import SystemPackage

/// An error with an archive.
///
/// The payload names the archive, and the entry if there is one.
public enum ArchiveError: ExplainedError, Equatable {
    /// The file has no end record of a zip.
    case notAnArchive(FilePath, reason: String)
    /// The zip's records contradict each other or the file's length.
    case damaged(FilePath, reason: String)
    /// An entry's data does not match its checksum or sizes.
    case damagedEntry(FilePath, entry: String, reason: String)
    /// The manifest's segment table of an entry does not match its data.
    case contradictedManifest(FilePath, entry: String)
    /// An entry's name leads out of the directory, or cannot be a file's name.
    case unsafeEntry(FilePath, entry: String, reason: String)
    /// Two entries have the same name, or would have it on a file system that ignores case.
    case duplicateEntry(FilePath, entry: String, other: String)
    /// An archive that is being written would have two entries with one name, which nobody could restore.
    case addedTwice(entry: String)
    /// The archive would unpack to more than the limit.
    case beyondLimit(FilePath, reason: String)
    /// An entry is encrypted.
    case encrypted(FilePath, entry: String)
    /// An entry's compression method cannot be read here.
    case unsupported(FilePath, entry: String, reason: String)

    public var outcome: FailureOutcome {
        if case .encrypted = self { .password } else { .failed }
    }

    public var description: String {
        switch self {
        case .notAnArchive(let path, let reason): "\(name(path)) is not a zip archive: \(reason)"
        case .damaged(let path, let reason): "\(name(path)) is damaged: \(reason)"
        case .damagedEntry(let path, let entry, let reason):
            "'\(entry)' in \(name(path)) is damaged: \(reason)"
        case .contradictedManifest(let path, let entry):
            "'\(entry)' in \(name(path)) is damaged: the manifest's segments contradict the archive"
        case .unsafeEntry(let path, let entry, let reason):
            "'\(entry)' in \(name(path)) is refused: \(reason)"
        case .duplicateEntry(let path, let entry, let other) where entry == other:
            "\(name(path)) has '\(entry)' twice"
        case .duplicateEntry(let path, let entry, let other):
            "'\(entry)' and '\(other)' in \(name(path)) are the same name if case is ignored"
        case .addedTwice(let entry): "'\(entry)' would be in the archive twice"
        case .beyondLimit(let path, let reason): "\(name(path)) is refused: \(reason)"
        case .encrypted(let path, let entry):
            "'\(entry)' in \(name(path)) is encrypted, and there is no password"
        case .unsupported(let path, let entry, let reason):
            "'\(entry)' in \(name(path)) cannot be read: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .notAnArchive, .damaged, .damagedEntry:
            "\(Advice.list) and \(Advice.olderBackup)"
        case .contradictedManifest(let path, _):
            "try another backup; if a program packed this one again, a copy restores without the manifest: zip -d \(name(path)) .grocerydude/manifest.json"
        case .unsafeEntry, .duplicateEntry, .beyondLimit:
            "this archive may be hostile: do not unpack it with another program either"
        case .addedTwice: "run the command again, and report this if it says so again"
        case .encrypted, .unsupported:
            "unpack it with the program that made it, and restore from a plain zip"
        }
    }

    private func name(_ path: FilePath) -> String {
        "'\(path.lastComponent.map { printable(FilePath($0.string)) } ?? printable(path))'"
    }
}
