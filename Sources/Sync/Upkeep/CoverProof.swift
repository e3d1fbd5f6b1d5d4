internal import Changes
internal import Files
internal import Remotes

/// The proof that another device's baseline or bundle holds the content of files, before these are removed.
///
/// Anybody who may write into the container can say that a file covers others.
struct CoverProof {
    /// A file that a baseline or bundle says it covers.
    struct Covered {
        var folder: Container.Folder
        var file: RemoteFile
        var known: KnownFile
    }

    /// The result of a check; `unread` if a file could not be read.
    enum Verdict {
        case holds, lacks, unread
    }

    /// The number of rows that are compared in one pass.
    private static let mostRows = ChangeFileWriter.fullRows

    let sidecar: Sidecar
    let container: Container
    let listing: Container.Listing

    /// Compares each row of the files with the rows of a baseline or bundle.
    func verdict(on standIn: StandIn, for files: [Covered]) async throws -> Verdict {
        try sidecar.write { access in
            try access.run(
                "CREATE TEMP TABLE IF NOT EXISTS proven (id BLOB PRIMARY KEY) WITHOUT ROWID"
            )
            try access.run("DELETE FROM temp.proven")
        }
        // Most rows have all that is known of them here, and so all that any file says.
        let isRead = try await forEachRow(of: standIn) { access, table, delta in
            guard let known = try access.states.known(delta.id), known.table == table,
                known.state.joined(with: delta.state) == delta.state
            else { return }
            try access.perform("INSERT OR IGNORE INTO temp.proven VALUES (?)", .id(delta.id))
        }
        guard isRead else { return .unread }
        var open: [RowID: KnownRow] = [:]
        for covered in files {
            // The index of a baseline has no rows.
            if case .baseline? = ContainerName(file: covered.file.name, in: "base") { continue }
            guard let changes = try await container.changes(covered.file, in: covered.folder) else {
                return .unread
            }
            try sidecar.read { access in
                try changes.forEachRow { table, delta in
                    let sql: StaticString = "SELECT 1 FROM temp.proven WHERE id = ?"
                    if try access.has(sql, .id(delta.id)) { return }
                    let known = open[delta.id]?.delta.joined(with: delta) ?? delta
                    open[delta.id] = KnownRow(table: table.name, delta: known)
                }
            }
            guard open.count >= Self.mostRows else { continue }
            guard try await close(&open, by: standIn) else { return .unread }
            if !open.isEmpty { return .lacks }
        }
        guard try await close(&open, by: standIn) else { return .unread }
        return open.isEmpty ? .holds : .lacks
    }

    /// Removes the rows that a baseline or bundle holds.
    private func close(
        _ open: inout [RowID: KnownRow],
        by standIn: StandIn
    ) async throws -> Bool {
        if open.isEmpty { return true }
        var rest = open
        let isRead = try await forEachRow(of: standIn) { _, table, delta in
            guard let row = rest[delta.id], row.table == table,
                row.state.joined(with: delta.state) == delta.state
            else { return }
            rest[delta.id] = nil
        }
        open = rest
        return isRead
    }

    /// Passes the rows of a baseline's parts, or of a bundle; returns whether all parts could be read.
    private func forEachRow(
        of standIn: StandIn,
        _ body: (SidecarAccess, TableName, RowDelta) throws -> Void
    ) async throws -> Bool {
        let ids = Set(standIn.parts)
        var read: Set<Digest> = []
        for (folder, file) in listing.all where folder != .info {
            guard let known = try sidecar.read({ try $0.files.file(named: file.name) }),
                ids.contains(known.id), !read.contains(known.id),
                let part = try await container.changes(file, in: folder), part.id == known.id
            else { continue }
            try sidecar.write { access in
                try part.forEachRow { try body(access, $0.name, $1) }
            }
            read.insert(part.id)
        }
        return read == ids
    }
}
