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
        guard let date = scanner.number(digits: 8), scanner.take("T"),
            let time = scanner.number(digits: 6), scanner.take("."),
            let millisecond = scanner.number(digits: 3), scanner.take("Z ")
        else { return nil }
        let moment = Timestamp.date(
            of: Timestamp.Parts(
                year: date / 10_000,
                month: date / 100 % 100,
                day: date % 100,
                hour: time / 10_000,
                minute: time / 100 % 100,
                second: time % 100,
                millisecond: millisecond,
                offset: 0
            )
        )
        guard let moment else { return nil }
        self.file = file
        deleted = moment
        name = scanner.remainder
    }
}
