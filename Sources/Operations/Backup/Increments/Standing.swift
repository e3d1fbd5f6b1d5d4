internal import Backups
internal import Files
internal import Foundation
internal import Stores

// The disk state of a file: as long as it is the same, the content is the same.
extension FileInfo {
    /// The granularity of file times.
    ///
    /// A file changed less than two seconds ago may change again with the same mtime.
    static let grain: Int64 = 2_000_000_000
    /// The time until writes through a memory map are on the disk: 30 seconds or somewhat more
    /// (vm.dirty_expire_centisecs).
    ///
    /// Until then, such writes change the file's times only once.
    static let writeback: Int64 = 60_000_000_000

    /// Returns the disk state: the inode, the size, and the times of the content and the inode.
    ///
    /// It omits the device, whose number may change.
    /// - Parameters:
    ///   - now: the current time.
    ///   - span: the time in nanoseconds during which nothing may have changed the file.
    /// - Returns: the state; `nil` if the file was changed within that time, or in the future.
    func standing(at now: Date, settledFor span: Int64 = grain) -> String? {
        let limit = now.nanoseconds.addingSaturated(-span)
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
    /// Returns the disk state of the database and its log; see `FileInfo.standing`.
    ///
    /// - Returns: the state; also `nil` if there is a journal, because another process may have to roll back.
    func standing(at now: Date) -> String? {
        guard let info = try? FileInfo(of: location), let database = info.standing(at: now) else {
            return nil
        }
        func beside(_ suffix: String) throws -> FileInfo? {
            try FileInfo.ifPresent(sidecar(suffix))
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
