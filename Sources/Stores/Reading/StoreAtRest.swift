internal import Files
internal import SystemPackage

/// A store in WAL mode that nobody has open: there is no log, and so no transaction to hold.
///
/// A shared lock on the database keeps an application that opens it from ending as the last
/// connection, so that the log it makes is there to be seen. Nothing else can change the database.
final class StoreAtRest {
    private let database: File
    private let log: FilePath

    /// Takes the lock; `nil` if another process holds one that excludes it.
    init?(_ path: FilePath, log: FilePath) throws {
        database = try File.open(path)
        self.log = log
        guard
            try database.lockRecordShared(from: LockBytes.shared, length: LockBytes.sharedLength)
        else {
            return nil
        }
    }

    /// Returns whether nobody has opened the store since.
    func isStill() throws -> Bool {
        try FileInfo.ifPresent(log) == nil
    }
}
