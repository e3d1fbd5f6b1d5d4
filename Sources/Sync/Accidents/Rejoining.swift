internal import Files
internal import Stores
public import SystemPackage

/// The meaning of the local data after an accident, which only a person knows: the answer to a `SyncDecision`.
public enum Rejoining: String, CaseIterable, Sendable {
    /// The local data are new edits, including deletions, and apply on all devices.
    case edits
    /// Rows that were deleted since come back; nothing else changes.
    case merge
    /// The local data yield to the others' data; a copy is kept.
    case container
}

extension Sidecar {
    /// Records that another state of a store replaced it; the next exchange asks for the meaning.
    ///
    /// A store that takes no part has no sidecar, so nothing is done.
    ///
    /// - Parameter directory: the sidecar's directory.
    /// - Throws: `SidecarError`, `FileError`.
    public static func markReplaced(in directory: FilePath) throws {
        guard try isThere(in: directory) else { return }
        let sidecar = try Sidecar(in: directory)
        try sidecar.write { try $0.set("replaced", 1) }
        try sidecar.close()
    }
}
