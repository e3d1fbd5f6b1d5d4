public import Foundation
internal import Remotes

/// A backup that was deleted and can come back.
public struct TrashedBackup: Sendable, Equatable {
    /// Its file in the trash.
    let file: RemoteFile
    /// Its name before it was deleted.
    public let name: String
    /// The moment of its deletion.
    public let deleted: Date

    /// Bytes in the archive.
    public var size: Int64 { file.size }
    /// The name without ` Stores.zip`.
    public var displayName: String { BackupName.display(name) }

    /// Reads the name of a file in the trash; `nil` for any other.
    init?(_ file: RemoteFile) {
        var scanner = TextScanner(file.name)
        guard let parts = Timestamp.parts(&scanner, dash: "", colon: ""), scanner.take(" "),
            let moment = Timestamp.date(of: parts)
        else { return nil }
        self.file = file
        deleted = moment
        name = scanner.remainder
    }
}
