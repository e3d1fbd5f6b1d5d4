internal import Files
public import Foundation
internal import Remotes

/// A backup that was deleted and can come back.
public struct TrashedBackup: Sendable, Equatable {
    /// The file in the trash.
    let file: RemoteFile
    /// The name before the deletion.
    public let name: String
    /// The moment of the deletion.
    public let deleted: Date

    /// The size of the archive in bytes.
    public var size: Int64 { file.size }
    /// The name without ` Stores.zip`.
    public var displayName: String { BackupName.display(name) }

    /// Returns whether a name is that of a file in the trash.
    static func isName(_ name: String) -> Bool { Self(RemoteFile(name: name, size: 0)) != nil }

    /// Parses the name of a file in the trash; `nil` for any other name.
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
