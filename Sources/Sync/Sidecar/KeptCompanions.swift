internal import Changes
internal import Foundation
internal import GRDB
internal import Stores

/// The data of this device that went with rows which are not in the store: the owner of `companion`.
struct KeptCompanions {
    let access: SidecarAccess

    /// Keeps what goes with rows, in place of what went before.
    ///
    /// - Throws: `SidecarError`.
    func keep(_ companions: [RowID: [Companion]]) throws {
        for (id, companions) in companions {
            try forget(id)
            for companion in companions {
                try access.run(
                    "INSERT INTO companion (id, name, columns, h, cells, emptied) VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        Data(id.bytes), companion.table, companion.columns.joined(separator: "\n"),
                        Data(companion.key.bytes), Data(bytes(of: companion.values)),
                        companion.isEmptied,
                    ]
                )
            }
        }
    }

    /// Returns what went with a row, in the order in which it comes back.
    ///
    /// - Throws: `SidecarError`.
    func companions(of id: RowID) throws -> [Companion] {
        let sql = "SELECT name, columns, h, cells, emptied FROM companion WHERE id = ? ORDER BY n"
        return try access.rows(sql, [Data(id.bytes)]).compactMap { row in
            let key = row.bytes(2).withUnsafeBytes { RowKey(bytes: $0) }
            guard let key else { return nil }
            let columns: String = row[1]
            return Companion(
                table: row[0],
                columns: columns.split(separator: "\n").map(String.init),
                key: key,
                values: try values(row.bytes(3)),
                isEmptied: row[4]
            )
        }
    }

    /// Whether anything is kept.
    var areThereAny: Bool {
        get throws { try access.count("SELECT EXISTS (SELECT 1 FROM companion)") > 0 }
    }

    func forget(_ id: RowID) throws {
        try access.run("DELETE FROM companion WHERE id = ?", [Data(id.bytes)])
    }

    /// Forgets what went with rows that nobody can take back any more.
    func expire() throws {
        try access.run(
            """
            DELETE FROM companion WHERE id NOT IN (SELECT id FROM removed) AND id NOT IN (SELECT id FROM held)
            """
        )
    }

    private func bytes(of values: [(String, StoredValue)]) -> [UInt8] {
        var writer = ByteWriter()
        for (name, value) in values {
            writer.value(.text(Array(name.utf8)))
            writer.value(value.wire)
        }
        return writer.bytes
    }

    private func values(_ bytes: [UInt8]) throws -> [(String, StoredValue)] {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            var values: [(String, StoredValue)] = []
            do {
                while reader.left > 0 {
                    guard case .text(let name) = try reader.value(),
                        let value = try reader.value().stored
                    else { throw FormatBreach("no value of a column") }
                    values.append((String(decoding: name, as: UTF8.self), value))
                }
            } catch let breach as FormatBreach {
                throw access.damaged("what went with a row cannot be read: \(breach.reason)")
            }
            return values
        }
    }
}

extension RemovedRows {
    /// The data that went with rows.
    var companions: KeptCompanions { KeptCompanions(access: access) }
}
