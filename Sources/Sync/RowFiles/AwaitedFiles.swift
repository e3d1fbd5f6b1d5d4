internal import Changes
internal import Files
internal import Stores

/// The files that values named before they were there, or were short enough to sync.
///
/// An application may insert a row before it writes the row's file. The value travels as it is, and the file is sent
/// once it is there, although no row changes then.
struct AwaitedFiles {
    let access: SidecarAccess

    /// Records that a value names a file that is not there, or that is too long.
    func add(_ file: RowFile, _ files: ExternalFiles) throws {
        try access.perform(
            "INSERT OR IGNORE INTO awaited (directory, path) VALUES (?, ?)",
            .bytes(files.directory(of: file).bytes),
            .bytes(file.path.bytes)
        )
    }

    /// Returns the files that are there now.
    func arrived(_ files: ExternalFiles) throws -> [RowFile] {
        try all().filter(files.canBeSent)
    }

    /// Returns the files that are there and too long.
    func tooLong(_ files: ExternalFiles) throws -> [RowFile] { try all().filter(files.isTooLong) }

    private func all() throws -> [RowFile] {
        let awaited = try access.all("SELECT directory, path FROM awaited") { row in
            (row.bytes(0), row.bytes(1))
        }
        return try awaited.map { directory, path in
            guard let directory = try? RelativePath(validating: directory),
                let file = ColumnFiles(directory: directory, form: .path).file(named: path)
            else { throw access.damaged("an awaited file has no path") }
            return file
        }
    }

    /// Forgets the files that are too long, and that no row names any more.
    private func forgetUnnamed(
        _ files: ExternalFiles,
        in tables: [TableMapping],
        _ finder: RowFinder
    ) throws {
        for file in try tooLong(files) {
            let isNamed = try tables.contains { table in
                try table.columns.contains { column in
                    guard let named = column.files?.file(named: file.path.bytes),
                        files.path(of: named) == files.path(of: file)
                    else { return false }
                    let term = table.schema.columns[column.place].name.sqlIdentifier
                    return try !finder.keys(of: table.schema, where: [term], are: [named.value])
                        .isEmpty
                }
            }
            if !isNamed { try forget(file) }
        }
    }

    private func forget(_ file: RowFile) throws {
        try access.perform(
            "DELETE FROM awaited WHERE directory = ? AND path = ?",
            .bytes(file.directory?.bytes ?? []),
            .bytes(file.path.bytes)
        )
    }

    /// Forgets the files that are there now, and has the columns that may name them read again.
    func take(
        _ files: ExternalFiles,
        in tables: [TableMapping],
        _ finder: RowFinder,
        _ change: inout SchemaChange
    ) throws {
        try forgetUnnamed(files, in: tables, finder)
        let arrived = try arrived(files)
        for file in arrived { try forget(file) }
        let directories = Set(arrived.compactMap(\.directory))
        for table in tables {
            for column in table.columns {
                guard let directory = column.files?.directory, directories.contains(directory)
                else { continue }
                change.columns[table.name, default: []].insert(column.name.description.exact)
            }
        }
    }
}

extension SidecarAccess {
    var awaited: AwaitedFiles { AwaitedFiles(access: self) }
}
