internal import Changes
internal import Files
internal import Stores

/// The files beside the store that the values of a column name.
struct ColumnFiles: Equatable, Sendable, CustomStringConvertible {
    /// The form in which a value names a file.
    enum Form {
        /// A blob in Core Data's form; see `ExternalReference`.
        case reference
        /// A text with the path below the directory.
        case path
    }

    /// The directory below the stores directory; `nil` for the store's directory of external data.
    let directory: RelativePath?
    let form: Form

    var description: String { "\(form) \(directory?.description ?? "")" }

    /// Returns the file that a value names; `nil` if it can name none.
    func file(_ value: StoredValue) -> RowFile? {
        switch (form, value) {
        case (.reference, _): ExternalReference(value).flatMap { file(named: $0.name.utf8) }
        case (.path, .text(let bytes)): file(named: bytes.array)
        case (.path, _): nil
        }
    }

    /// Returns whether backups give a name a meaning.
    private static func isReserved(_ name: FileName) -> Bool {
        name == Exclusions.cacheTag
            || name.description.lowercased().hasPrefix(".grocerydude")
    }

    /// Returns the file of a name in change files; `nil` if a value of the column cannot have it.
    func file(named name: some Collection<UInt8>) -> RowFile? {
        guard let path = try? RelativePath(validating: name) else { return nil }
        switch form {
        case .reference:
            guard let reference = ExternalReference(name: name) else { return nil }
            return RowFile(directory: directory, path: path, value: reference.value)
        case .path:
            // Beside a database, such a file would be taken for a part of it, and others have backups leave files out.
            guard path.bytes.count <= RelativePath.longestInValue,
                Store.database(ofFileBeside: path) == nil,
                !path.components.contains(where: Self.isReserved)
            else { return nil }
            let value = StoredValue.text(StoredBytes(path.bytes))
            return RowFile(directory: directory, path: path, value: value)
        }
    }
}

extension ColumnFiles {
    /// Returns the files of a column; `nil` if it names none.
    ///
    /// - Parameters:
    ///   - column: the column. Any column for blobs may name files in Core Data's form.
    ///   - directory: the directory that the group's map names for the column.
    init?(of column: ColumnSchema, in directory: RelativePath?) {
        self.directory = directory
        if directory == nil {
            guard column.affinity == .blob else { return nil }
            form = .reference
        } else {
            form = column.declaredType.uppercased().contains("BLOB") ? .reference : .path
        }
    }
}

/// A file beside the store that a row names.
struct RowFile: Hashable, Sendable {
    /// The directory below the stores directory; `nil` for the store's directory of external data.
    let directory: RelativePath?
    /// The path below that directory, which is the name in change files.
    let path: RelativePath
    /// The value that names it.
    let value: StoredValue

    /// Whether the file belongs to the value alone, so that it is removed with the last row that names it.
    ///
    /// A file of a directory that the map names may be of use to the application without a row.
    var isOfValue: Bool { directory == nil }

    init(directory: RelativePath?, path: RelativePath, value: StoredValue) {
        self.directory = directory
        self.path = path
        self.value = value
    }

    /// Creates the file that Core Data's form of a value names; `nil` if the name is no UUID.
    init?(ofValue name: some Collection<UInt8>) {
        guard let reference = ExternalReference(name: name),
            let path = try? RelativePath(validating: name)
        else { return nil }
        self.init(directory: nil, path: path, value: reference.value)
    }
}

extension TableMapping {
    /// Returns the file that a column names; `nil` if the column can name no such file.
    func file(named name: [UInt8], by column: ColumnName) -> RowFile? {
        place(of: column).flatMap { columns[$0].files?.file(named: name) }
    }
}
