internal import Foundation

/// The identity of a backup, which it keeps when it is copied, renamed or moved to another folder.
///
/// A manifest has a random UUID; an archive of another program has the digest of its central directory.
/// Notes, pins, checks and the catalog are kept under it.
public struct BackupID: RawRepresentable, Codable, CodingKeyRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Returns an identity that no other backup has.
    package static func random() -> BackupID {
        BackupID(rawValue: UUID().uuidString.lowercased())
    }
}
