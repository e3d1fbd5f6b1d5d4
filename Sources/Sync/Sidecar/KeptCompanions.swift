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
                    "INSERT INTO companion (id, name, links, h, cells, emptied) VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        Data(id.bytes), companion.table, Data(bytes(of: companion.links)),
                        Data(companion.key.bytes), Data(bytes(of: companion.values)),
                        companion.isEmptied,
                    ]
                )
            }
        }
    }

    /// Forgets companions that came back, also those that several rows took along.
    ///
    /// - Throws: `SidecarError`.
    func forget(_ companions: [Companion]) throws {
        for companion in companions where !companion.isEmptied {
            try access.run(
                "DELETE FROM companion WHERE name = ? AND h = ? AND cells = ?",
                [companion.table, Data(companion.key.bytes), Data(bytes(of: companion.values))]
            )
        }
    }

    /// Returns what went with a row, in the order in which it comes back.
    ///
    /// - Throws: `SidecarError`.
    func companions(of id: RowID) throws -> [Companion] {
        let sql = "SELECT name, links, h, cells, emptied FROM companion WHERE id = ? ORDER BY n"
        return try access.rows(sql, [Data(id.bytes)]).compactMap { row in
            let key = row.bytes(2).withUnsafeBytes { RowKey(bytes: $0) }
            guard let key else { return nil }
            return Companion(
                table: row[0],
                key: key,
                values: try values(row.bytes(3)),
                links: try links(row.bytes(1)),
                isEmptied: row[4]
            )
        }
    }

    /// Whether nothing is kept.
    var isEmpty: Bool {
        get throws { try access.count("SELECT EXISTS (SELECT 1 FROM companion)") == 0 }
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

    private func bytes(of links: [(columns: [String], id: RowID)]) -> [UInt8] {
        var writer = ByteWriter()
        for (columns, id) in links {
            writer.value(.row(id))
            writer.value(.integer(Int64(columns.count)))
            for column in columns { writer.value(.text(Array(column.utf8))) }
        }
        return writer.bytes
    }

    private func values(_ bytes: [UInt8]) throws -> [(String, StoredValue)] {
        try read(bytes) { reader in
            var values: [(String, StoredValue)] = []
            while reader.left > 0 {
                let name = try reader.name()
                guard let value = try reader.value().stored else { throw FormatBreach("no value") }
                values.append((name, value))
            }
            return values
        }
    }

    private func links(_ bytes: [UInt8]) throws -> [(columns: [String], id: RowID)] {
        try read(bytes) { reader in
            var links: [(columns: [String], id: RowID)] = []
            while reader.left > 0 {
                guard case .row(let id) = try reader.value(),
                    case .integer(let count) = try reader.value(), count < 3000
                else { throw FormatBreach("no reference") }
                var columns: [String] = []
                while columns.count < count { columns.append(try reader.name()) }
                links.append((columns, id))
            }
            return links
        }
    }

    private func read<Result>(
        _ bytes: [UInt8],
        _ body: (inout ByteReader) throws -> Result
    ) throws -> Result {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            do {
                return try body(&reader)
            } catch let breach as FormatBreach {
                throw access.damaged("what went with a row cannot be read: \(breach.reason)")
            }
        }
    }
}

extension ByteReader {
    /// Reads a name that was written as a text.
    fileprivate mutating func name() throws -> String {
        guard case .text(let name) = try value() else { throw FormatBreach("no name") }
        return String(decoding: name, as: UTF8.self)
    }
}

extension RemovedRows {
    /// The data that went with rows.
    var companions: KeptCompanions { KeptCompanions(access: access) }
}
