internal import Files
internal import SystemPackage

/// The journal of a transaction over several databases; each database's own journal names it at its end
/// (https://www.sqlite.org/atomiccommit.html, 5; readSuperJournal() in pager.c).
///
/// Removing the super-journal commits the transaction. When SQLite plays back a journal that names one, it follows
/// that path, and removes the file that it finds. So the copy of a journal must name none, and this type decides
/// whether the transaction was committed.
package enum SuperJournal {
    /// Removes the name of a super-journal from the copy of a store's journal.
    ///
    /// - Throws: `FileError`; `StoreError.unreadable` if it cannot be determined whether the transaction was
    ///   committed.
    static func detach(from journal: File, of store: Store) throws {
        guard let record = try Record(of: journal) else { return }
        if let path = record.path, try isGone(path, of: store) {
            // The transaction was committed, so nothing must be played back.
            try journal.truncate(to: 0)
        } else {
            try record.erase(from: journal)
        }
    }

    /// Refuses to open a store for writing if SQLite would remove a file outside its directory.
    ///
    /// It does so if the journal beside the store names that file as a super-journal.
    ///
    /// - Throws: `StoreError.unreadable`, `FileError`.
    package static func refuseForeign(beside store: Store) throws {
        let journal = store.sidecar("-journal")
        guard try FileInfo.ifPresent(journal)?.kind == .file,
            let path = try Record(of: File.open(journal))?.path?.lexicallyNormalized()
        else { return }
        let directory = store.location.removingLastComponent()
        guard path.removingLastComponent() != directory else { return }
        throw StoreError.unreadable(
            store.path.description,
            reason:
                "its journal belongs to a transaction of '\(printable(path))', which is outside its directory"
        )
    }

    /// Returns whether the transaction was committed.
    ///
    /// An application in a container may see its directory under another path. A super-journal is beside one of its
    /// databases, so this function looks there too.
    private static func isGone(_ path: FilePath, of store: Store) throws -> Bool {
        func unknown(_ reason: String) -> StoreError {
            let transaction = "its journal belongs to a transaction of '\(printable(path))'"
            return .unreadable(store.path.description, reason: "\(transaction), \(reason)")
        }
        guard path.isAbsolute, let name = path.lastComponent else {
            throw unknown("which is no path")
        }
        let own = store.location.removingLastComponent()
        do {
            for place in [path, own.appending(name)] {
                // SQLite's VFS for Unix treats an empty file as missing (unixAccess() in os_unix.c).
                if let info = try FileInfo.ifPresent(place), info.kind != .file || info.size > 0 {
                    return false
                }
            }
            _ = try Directory.open(path.removingLastComponent())
        } catch {
            // SQLite asks with the rights of the application, which may see more.
            throw unknown("which cannot be looked at: \(error)")
        }
        return true
    }

    /// The record at the end of a journal: a page number, the name, its length, its checksum, and the journal's
    /// magic again.
    private struct Record {
        private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        /// The length of the fields after the name, in bytes.
        private static let length = 16
        /// The greatest length of a path that SQLite opens, in bytes.
        private static let nameLimit = 4096

        /// The super-journal's path; `nil` if the record is damaged, so that SQLite ignores it.
        let path: FilePath?
        private let end: Int64

        /// Reads the record; `nil` if there is none.
        init?(of file: File) throws {
            end = try file.info().size
            guard end >= Self.length else { return nil }
            let trailer = try file.readExactly(count: Self.length, at: end - Int64(Self.length))
            guard trailer.suffix(8).elementsEqual(Self.magic) else { return nil }
            let (count, sum) = (Self.number(trailer[0..<4]), Self.number(trailer[4..<8]))
            let start = end - Int64(Self.length) - Int64(count)
            guard count > 0, count <= Self.nameLimit, start >= 0 else {
                path = nil
                return
            }
            let bytes = try file.readExactly(count: Int(count), at: start)
            // SQLite sums values of C's `char`, which is signed on some machines and unsigned on others.
            let sums = [
                bytes.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) },
                bytes.reduce(UInt32(0)) { $0 &+ UInt32($1) },
            ]
            let text = bytes.prefix { $0 != 0 }.map { CInterop.PlatformChar(bitPattern: $0) }
            path =
                sums.contains(sum) && !text.isEmpty ? FilePath(platformString: text + [0]) : nil
        }

        func erase(from file: File) throws {
            let zeros = [UInt8](repeating: 0, count: Self.magic.count)
            try zeros.withUnsafeBytes { try file.write($0, at: end - Int64(zeros.count)) }
        }

        private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
            bytes.reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
