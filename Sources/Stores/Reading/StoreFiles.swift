public import Files
internal import Foundation
public import SystemPackage

/// The files of a database that SQLite cannot open here, read as of one moment.
///
/// Such a database is encrypted, locked, damaged or in an unknown format. The database is read twice; between the
/// two passes, its log and journal are copied and read again. If all were the same both times, they are of the
/// moment in between. A log may have grown; its copied beginning is of that moment.
///
/// SQLite's locks keep the database unchanged meanwhile if applications respect them. They are no proof, so the
/// files are read even if the locks are not granted soon.
public final class StoreFiles {
    /// A log or a journal.
    public struct Sidecar {
        public let path: RelativePath
        public let info: FileInfo
        /// A copy in a scratch directory.
        public let copy: File
    }

    private struct Piece: Equatable {
        var count: Int
        var digest: Digest
    }

    /// The database's file information when it was opened.
    public let info: FileInfo
    /// The existing log and journal; known once the whole database was read.
    public private(set) var sidecars: [Sidecar] = []

    /// The log or journal files that cannot be read.
    public private(set) var failures: [(path: RelativePath, error: FileError)] = []

    private let store: Store
    private let database: File
    private var index: File?
    private let scratch: ScratchDirectory
    private var pieces: [Int64: Piece] = [:]
    private var unread: Int64
    private var hasChanged = false
    private var isVerified = false

    /// Opens a database.
    ///
    /// No connection to it may be open in this process, since closing the file would drop its locks.
    ///
    /// - Throws: `FileError`.
    public init(of store: Store, scratchParent: FilePath) throws {
        self.store = store
        scratch = try ScratchDirectory(in: scratchParent)
        database = try File.open(store.location)
        info = try database.info()
        unread = info.size
        hold()
    }

    // MARK: - Locks

    /// Keeps applications that respect SQLite's locks from writing into the database.
    ///
    /// In WAL mode they continue to write to the log, but do not restart it.
    private func hold() {
        index = try? File.open(store.sidecar("-shm"))
        for _ in 0..<20 {
            if lock() { return }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    private func lock() -> Bool {
        func lock(_ file: File, _ start: Int64, _ length: Int64) -> Bool {
            (try? file.lockRecordShared(from: start, length: length)) ?? false
        }
        guard lock(database, LockBytes.shared, LockBytes.sharedLength) else { return false }
        guard let index else { return true }
        return lock(index, LockBytes.checkpoint, 1) && lock(index, LockBytes.reader, 1)
    }

    // MARK: - Reading

    /// Reads bytes of the database.
    ///
    /// - Returns: the number of bytes; fewer than requested at the end of the file.
    /// - Throws: `FileError`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = try database.read(into: buffer, at: offset)
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        let piece = Piece(count: count, digest: Digest(of: bytes))
        if let known = pieces[offset], known.count == count {
            if known != piece { hasChanged = true }
        } else if isVerified {
            // This overlaps ranges that were read before, which must be unchanged.
            if try !isAsRead(offset..<offset + Int64(count)) { hasChanged = true }
        } else {
            pieces[offset] = piece
            unread -= Int64(count)
        }
        return count
    }

    /// Returns whether everything read so far is of one moment.
    ///
    /// Once the whole database was read, it copies the log and the journal, and reads everything again.
    ///
    /// - Throws: `FileError`.
    public func isStill() throws -> Bool {
        guard !hasChanged else { return false }
        guard unread <= 0, !isVerified else { return true }
        isVerified = true
        try copySidecars()
        let isSame = try isAsRead(0..<max(1, info.size)) && database.size == info.size
        hasChanged = hasChanged || !isSame
        return !hasChanged
    }

    /// Copies the log and the journal if that is not done yet; it also works while other processes write.
    ///
    /// - Throws: `FileError`.
    public func copySidecars() throws {
        guard sidecars.isEmpty else { return }
        var files: [File] = []
        for suffix in ["-wal", "-journal"] {
            let path = store.path.sibling(store.path.name.appending(suffix))
            guard let file = openSidecar(path) else { continue }
            let copy = try file.copy(to: scratch.path.appending(suffix), syncing: false)
            sidecars.append(Sidecar(path: path, info: try file.info(), copy: copy))
            files.append(file)
        }
        for (sidecar, file) in zip(sidecars, files) {
            let identity = try FileInfo.ifPresent(sidecar.path.below(store.directory))?.identity
            if try identity != sidecar.info.identity || !file.begins(with: sidecar.copy) {
                hasChanged = true
            }
        }
        if try FileInfo.ifPresent(store.location)?.identity != info.identity { hasChanged = true }
    }

    /// Opens a file beside the database; `nil` if there is none, or if it is not SQLite's.
    private func openSidecar(_ path: RelativePath) -> File? {
        let location = path.below(store.directory)
        do {
            guard try FileInfo.ifPresent(location)?.kind == .file else { return nil }
            let file = try File.open(location)
            return try Store.isSidecar(file, at: path) ? file : nil
        } catch let error as FileError where !error.isMissing {
            failures.append((path, error))
            return nil
        } catch {
            return nil
        }
    }

    /// Reads the ranges that overlap this one again, and returns whether they are unchanged.
    private func isAsRead(_ range: Range<Int64>) throws -> Bool {
        for (offset, piece) in pieces
        where offset < range.upperBound && offset + Int64(piece.count) > range.lowerBound {
            let bytes = try [UInt8](unsafeUninitializedCapacity: piece.count) { buffer, done in
                done = try database.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            }
            let now = bytes.withUnsafeBytes { Piece(count: $0.count, digest: Digest(of: $0)) }
            guard now == piece else { return false }
        }
        return true
    }
}
