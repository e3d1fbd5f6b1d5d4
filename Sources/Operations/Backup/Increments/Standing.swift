internal import Files
internal import Foundation
internal import Stores

// How a file stands on the disk: as long as that is the same, its content is.
extension FileInfo {
    /// A file that was changed so shortly before may be changed again within the grain of its times.
    private static let grain: Int64 = 2_000_000_000

    /// Returns how it stands: inode, size, and the times of its content and of itself.
    ///
    /// The device is left out: a disk may get another number.
    /// - Returns: `nil` if it was changed within the last two seconds, or in the future.
    func standing(at now: Date) -> String? {
        let limit = Int64(now.timeIntervalSince1970 * 1_000_000_000) - Self.grain
        guard modified < limit, changed < limit else { return nil }
        var bytes: [UInt8] = []
        bytes.append(decimal: Int64(bitPattern: identity.inode))
        for number in [size, modified, changed] {
            bytes.append(UInt8(ascii: " "))
            bytes.append(decimal: number)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Store {
    /// Returns how the database and its log stand; see `FileInfo.standing`.
    ///
    /// - Returns: `nil` also if there is a journal: then another process may have to roll back.
    func standing(at now: Date) -> String? {
        guard let info = try? FileInfo(of: location), let database = info.standing(at: now) else {
            return nil
        }
        func beside(_ suffix: String) throws -> FileInfo? {
            try FileInfo.ifPresent(path.sibling(path.name.appending(suffix)).below(directory))
        }
        do {
            guard try beside("-journal") == nil else { return nil }
            guard let log = try beside("-wal") else { return database }
            return log.standing(at: now).map { "\(database)/\($0)" }
        } catch {
            return nil
        }
    }
}
