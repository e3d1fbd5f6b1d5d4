import CSQLite
import Files
import Foundation
import SystemPackage
import Testing

@testable import Stores

/// What `sqlite3_backup_step(db, -1)` makes of a database
/// (https://www.sqlite.org/c3ref/backup_finish.html): the measure for our reader.
func referenceBackup(of connection: OpaquePointer, to path: FilePath) throws -> [UInt8] {
    var target: OpaquePointer?
    #expect(sqlite3_open(path.string, &target) == SQLITE_OK)
    defer { sqlite3_close(target) }
    let backup = try #require(sqlite3_backup_init(target, "main", connection, "main"))
    #expect(sqlite3_backup_step(backup, -1) == SQLITE_DONE)
    #expect(sqlite3_backup_finish(backup) == SQLITE_OK)
    return try Array(Data(contentsOf: URL(fileURLWithPath: path.string)))
}

extension StoreSnapshot {
    /// All pages, read in pieces as a backup reads them.
    func bytes(inPieces size: Int = 1 << 20) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
        defer { buffer.deallocate() }
        while true {
            let count = try read(into: buffer, at: Int64(bytes.count))
            bytes += buffer[..<count]
            if count < size { return bytes }
        }
    }
}

/// Page for page equality, but for the fields of the header that a backup writes again: the change
/// counter (24 to 27), the schema cookie (40 to 43), and what goes with them (92 to 99).
func expectSamePages(
    _ bytes: [UInt8],
    _ reference: [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(bytes.count == reference.count, sourceLocation: sourceLocation)
    guard bytes.count == reference.count, !bytes.isEmpty else { return }
    var bytes = bytes
    var reference = reference
    for range in [24..<28, 40..<44, 92..<100] {
        bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
        reference.replaceSubrange(range, with: repeatElement(0, count: range.count))
    }
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    let size = pageSize == 1 ? 65_536 : pageSize
    for start in stride(from: 0, to: bytes.count, by: size)
    where bytes[start..<(start + size)] != reference[start..<(start + size)] {
        Issue.record("page \(start / size + 1) differs", sourceLocation: sourceLocation)
        return
    }
}

extension Store {
    /// A store that a test made.
    init(_ name: String, in directory: FilePath) throws {
        let path = try RelativePath(name)
        self.init(
            path: path,
            directory: directory,
            identity: try FileInfo(of: path.below(directory)).identity
        )
    }

    /// Its snapshot alone.
    func snapshot(scratch: FilePath) throws -> StoreSnapshot {
        try StoreSnapshot(beginReading(scratchParent: scratch, busyTimeout: .seconds(20)))
    }
}

/// Runs SQL on a database of our own, and returns the first column of its rows.
func query(_ path: FilePath, _ sql: String) throws -> [String] {
    var handle: OpaquePointer?
    #expect(sqlite3_open(path.string, &handle) == SQLITE_OK)
    defer { sqlite3_close(handle) }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
        Issue.record("\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        return []
    }
    defer { sqlite3_finalize(statement) }
    var rows: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
        rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
    }
    return rows
}
