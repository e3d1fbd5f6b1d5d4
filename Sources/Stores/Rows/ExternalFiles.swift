public import Files
internal import Foundation
internal import GRDB

/// A column whose values name files that belong to a store: `photo.file of app.sqlite in photos`.
public struct ExternalFiles: Sendable, Equatable {
    public let table: String
    public let column: String
    /// The path of the store.
    public let store: RelativePath
    /// The directory that the names are relative to, below the store's directory; `nil` for the store's directory
    /// itself.
    public let directory: RelativePath?

    /// Parses `TABLE.COLUMN of STORE in DIRECTORY`, with or without the directory; `nil` for any other text.
    public init?(_ text: String) {
        guard let of = text.range(of: " of "), let dot = text[..<of.lowerBound].lastIndex(of: ".")
        else { return nil }
        table = String(text[..<dot])
        column = String(text[text.index(after: dot)..<of.lowerBound])
        var rest = text[of.upperBound...]
        var place: RelativePath?
        if let end = rest.range(of: " in ", options: .backwards) {
            guard let path = try? RelativePath(String(rest[end.upperBound...])) else { return nil }
            (place, rest) = (path, rest[..<end.lowerBound])
        }
        guard let store = try? RelativePath(String(rest)), !table.isEmpty, !column.isEmpty else {
            return nil
        }
        (self.store, directory) = (store, place)
    }

    /// The text in the form that `init` parses.
    public var text: String {
        "\(table).\(column) of \(store)" + (directory.map { " in \($0)" } ?? "")
    }

    /// Returns the path of a file below the stores directory.
    ///
    /// - Throws: `FileError.unsafeName` if the name leads elsewhere, or is too long.
    func path(_ name: some Collection<UInt8>) throws(FileError) -> RelativePath {
        let name = try RelativePath(validating: name)
        guard name.bytes.count <= RelativePath.longestInValue else {
            let reason = "it has more than \(RelativePath.longestInValue) bytes"
            throw .unsafeName(name.description, reason: reason)
        }
        let places = [store.parent, directory].compactMap { $0 }
        return try RelativePath(
            validating: places.flatMap { $0.bytes + [UInt8(ascii: "/")] } + name.bytes
        )
    }
}

extension StoreSnapshot {
    /// Returns the files that a column names, in the snapshot's transaction.
    ///
    /// - Parameters:
    ///   - files: the column.
    ///   - checkCancellation: a closure that is called during long queries, and throws to end them.
    /// - Returns: the paths, and the beginning of the first value that is no path below the directory, if there is one.
    /// - Throws: `StoreError`, also if there is no such column.
    public func paths(
        of files: ExternalFiles,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> (paths: Set<RelativePath>, other: String?) {
        var (paths, other): (Set<RelativePath>, String?) = ([], nil)
        let table = files.table.sqlIdentifier
        // With the table's name before it, SQLite never takes a missing column for a text.
        let column = "\(table).\(files.column.sqlIdentifier)"
        try connection.interruptible(by: checkCancellation) {
            try connection.access { database in
                let rows = try Row.fetchCursor(
                    database,
                    sql: "SELECT CAST(\(column) AS BLOB) FROM \(table) WHERE \(column) <> ''"
                )
                while let row = try rows.next() {
                    guard case .blob(let name) = (row[0] as DatabaseValue).storage else { continue }
                    do throws(FileError) {
                        paths.insert(try files.path(name))
                    } catch {
                        let start = printable(bytes: Array(name.prefix(80)))
                        other = other ?? (name.count > 80 ? start + "…" : start)
                    }
                }
            }
        }
        return (paths, other)
    }
}
