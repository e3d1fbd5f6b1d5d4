internal import CSQLite
internal import CStores
internal import Files
internal import Foundation
internal import Synchronization

/// Bytes that SQLite reads as a database file.
///
/// SQLite learns only that a read failed, so this type keeps the error itself.
final class SourceFile: Sendable {
    let source: any ByteSource
    let size: Int64
    private let failed = Mutex<(error: any Error, offset: Int64)?>(nil)

    init(_ source: any ByteSource) throws {
        self.source = source
        size = try source.size
    }

    /// Returns and clears the error of the first failed read, if there is one.
    ///
    /// - Parameter store: the store's name in messages.
    /// - Returns: `StoreError.damagedPage` if the bytes are damaged; otherwise the source's own error.
    func takeFailure(of store: String) -> (any Error)? {
        let failure = failed.withLock { failure in
            defer { failure = nil }
            return failure
        }
        guard let failure else { return nil }
        guard let damage = failure.error as? DamagedBytes else { return failure.error }
        let page = failure.offset / pageSize + 1
        return StoreError.damagedPage(store, page: page, reason: damage.description)
    }

    /// The length of a page in bytes, from the header (https://www.sqlite.org/fileformat2.html, 1.3.2).
    private var pageSize: Int64 {
        let bytes = (try? source.readExactly(count: 2, at: 16)) ?? [0, 1]
        let size = Int64(bytes[0]) << 8 | Int64(bytes[1])
        return size == 1 ? 65_536 : max(512, size)
    }

    /// Reads a range within the file.
    ///
    /// - Returns: whether it could be read.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
        do {
            try source.readExactly(into: buffer, at: offset)
            return true
        } catch {
            failed.withLock { $0 = $0 ?? (error, offset) }
            return false
        }
    }
}

/// The byte sources that SQLite opens as files, through a VFS (https://www.sqlite.org/vfs.html).
///
/// SQLite opens a source by a name, which is registered only for that moment.
enum SourceFiles {
    private static let vfs = "grocerydude-bytes"
    private static let files = Mutex<(files: [String: SourceFile], last: Int)>(([:], 0))

    /// The result of registering the VFS, which happens once.
    private static let code: CInt = {
        var calls = cstores_calls()
        calls.open = { name, size in
            guard let name, let file = SourceFiles.named(String(cString: name)) else { return nil }
            size?.pointee = file.size
            return Unmanaged.passRetained(file).toOpaque()
        }
        calls.read = { context, bytes, count, offset in
            guard let context else { return 1 }
            let file = Unmanaged<SourceFile>.fromOpaque(context).takeUnretainedValue()
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
            return file.read(into: buffer, at: offset) ? 0 : 1
        }
        calls.close = { context in
            if let context { Unmanaged<SourceFile>.fromOpaque(context).release() }
        }
        // SQLite keeps the name, so it is copied.
        return vfs.withCString { cstores_register(strdup($0), calls) }
    }()

    private static func named(_ name: String) -> SourceFile? { files.withLock { $0.files[name] } }

    /// Calls a closure with a URI by which SQLite can open a file during the call.
    ///
    /// - Throws: `StoreError` if SQLite did not accept the VFS; any error of `body`.
    static func lend<Result>(
        _ file: SourceFile,
        name store: String,
        _ body: (_ uri: String) throws -> Result
    ) throws -> Result {
        guard code == SQLITE_OK else { throw StoreError(store, code: code) }
        let name = files.withLock { state in
            state.last += 1
            let name = "/\(state.last)"
            state.files[name] = file
            return name
        }
        defer { files.withLock { $0.files[name] = nil } }
        return try body("file:\(name)?vfs=\(vfs)&mode=ro&immutable=1")
    }
}
