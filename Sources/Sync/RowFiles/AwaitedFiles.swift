internal import Changes
internal import Files
internal import Stores

/// The files that values named before they were there.
///
/// An application may insert a row before it writes the row's file. The value travels as it is, and the file is sent
/// once it is there, although no row changes then.
struct AwaitedFiles {
    let access: SidecarAccess

    /// Records that a value names a file that is not there.
    func add(_ file: RowFile) throws {
        guard let directory = file.directory else { return }
        try access.perform(
            "INSERT OR IGNORE INTO awaited (directory, path) VALUES (?, ?)",
            .bytes(directory.bytes),
            .bytes(file.path.bytes)
        )
    }

    /// Returns the files that are there now.
    func arrived(_ files: ExternalFiles) throws -> [RowFile] {
        let awaited = try access.all("SELECT directory, path FROM awaited") { row in
            (row.bytes(0), row.bytes(1))
        }
        return try awaited.compactMap { directory, path in
            guard let directory = try? RelativePath(validating: directory),
                let file = ColumnFiles(directory: directory, form: .path).file(named: path)
            else { throw access.damaged("an awaited file has no path") }
            return try files.canBeSent(file) ? file : nil
        }
    }

    /// Forgets the files that are there now, and has the columns that may name them read again.
    func take(
        _ files: ExternalFiles,
        in tables: [TableMapping],
        _ change: inout SchemaChange
    )
        throws
    {
        let arrived = try arrived(files)
        for file in arrived {
            try access.perform(
                "DELETE FROM awaited WHERE directory = ? AND path = ?",
                .bytes(file.directory?.bytes ?? []),
                .bytes(file.path.bytes)
            )
        }
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
