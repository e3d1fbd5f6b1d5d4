internal import Files
internal import Stores
public import SystemPackage

/// What the local data mean after an accident, as only a person can say: the answer to a `SyncDecision`.
public enum Rejoining: String, CaseIterable, Sendable {
    /// They are edits of now, deletes too: as it is here, so for everybody.
    case edits
    /// Rows that were deleted since come back; nothing else changes.
    case merge
    /// They yield to what the others have; a copy is kept.
    case container
}

extension Sidecar {
    /// Notes that a store was replaced by another state of itself: the next exchange asks what that means.
    ///
    /// A store that takes no part has no sidecar; then nothing is done.
    ///
    /// - Parameter directory: the sidecar's.
    /// - Throws: `SidecarError`, `FileError`.
    public static func markReplaced(in directory: FilePath) throws {
        guard try isThere(in: directory) else { return }
        let sidecar = try Sidecar(in: directory)
        try sidecar.write { try $0.set("replaced", 1) }
        try sidecar.close()
    }
}
