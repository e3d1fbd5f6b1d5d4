internal import Changes
internal import Files
internal import Stores

/// The long values that the container may have lost, as the store has them.
struct LostBlobs {
    let access: SidecarAccess
    let outgoing: Outgoing
    let files: ExternalFiles
    /// The missing values; `nil` if any may be missing.
    var missing: Set<Digest>?

    /// Puts the long values that rows refer to into the outbox again, if the store has them.
    func send(_ tables: [TableMapping], in snapshot: StoreSnapshot) throws {
        var wanted: [Digest: BlobReference] = [:]
        let mappings = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        try access.states.forEach { row in
            for cell in row.state.cells {
                guard let reference = cell.value.reference,
                    missing?.contains(reference.digest) ?? true
                else { continue }
                if case .file(let name, _) = cell.value {
                    let file = mappings[row.table]?.file(named: name, by: cell.column)
                    if let file { try send(file, reference) }
                } else {
                    wanted[reference.digest] = reference
                }
            }
        }
        let sizes = Set(wanted.values.map(\.size))
        if wanted.isEmpty { return }
        for table in tables {
            var cursor = try snapshot.rows(of: table.schema, order: table.order)
            while try cursor.next() {
                for column in table.columns {
                    guard let content = try cursor.value(column.index).long,
                        sizes.contains(UInt64(content.count))
                    else { continue }
                    let digest = content.withUnsafeBytes { Digest(of: $0) }
                    guard let reference = wanted.removeValue(forKey: digest) else { continue }
                    try outgoing.keepAgain(reference, content)
                }
            }
        }
    }
}

extension LostBlobs {
    /// Sends the content of a file beside the store, if the file exists.
    private func send(_ file: RowFile, _ reference: BlobReference) throws {
        guard let content = try files.read(file),
            content.withUnsafeBytes({ Digest(of: $0) }) == reference.digest
        else { return }
        try outgoing.keepAgain(reference, content)
    }
}

extension StoredValue {
    /// The bytes of a text or a blob, if they are long enough for a file of their own.
    fileprivate var long: [UInt8]? {
        switch self {
        case .text(let bytes), .blob(let bytes):
            bytes.count > RowImage.limit ? bytes.array : nil
        default: nil
        }
    }
}
