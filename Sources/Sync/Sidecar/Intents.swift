internal import Changes
internal import Foundation
internal import GRDB
internal import Stores

/// The change that a write into the store is about to make to a row.
struct Intent {
    var table: TableName
    var key: RowKey
    var id: RowID
    var causalLength: UInt32
    /// The row before; `nil` for a row that does not exist.
    var old: RowImage?
    var new: RowImage?
}

/// The changes of a write that is about to begin, or was interrupted: the owner of `intent`.
struct Intents {
    let access: SidecarAccess

    /// Records the changes that a write is about to make, and drops the fingerprint of the store's files.
    func add(_ intents: some Sequence<Intent>) throws {
        try access.set("look", nil)
        for intent in intents {
            try access.perform(
                "INSERT INTO intent (t, h, id, cl, old, new) VALUES (?, ?, ?, ?, ?, ?)",
                .integer(access.number(of: intent.table)),
                .bytes(intent.key.bytes),
                .id(intent.id),
                .integer(Int64(intent.causalLength)),
                .optional(intent.old?.bytes),
                .optional(intent.new?.bytes)
            )
        }
    }

    func all() throws -> [Intent] {
        try access.rows("SELECT t, h, id, cl, old, new FROM intent").map { row in
            guard let key = RowKey(bytes: row.bytes(1)), let id = RowID(bytes: row.bytes(2)) else {
                throw access.damaged("an intent has no key")
            }
            func image(_ column: Int) -> RowImage? {
                let value: DatabaseValue = row[column]
                return value.isNull ? nil : RowImage(bytes: row.bytes(column))
            }
            return Intent(
                table: try access.table(row[0]),
                key: key,
                id: id,
                causalLength: UInt32(truncatingIfNeeded: row[3] as Int64),
                old: image(4),
                new: image(5)
            )
        }
    }

    /// Forgets the changes of a write, and what it would have taken out of the store and did not.
    func drop() throws {
        try access.run("DELETE FROM intent")
        try access.run("DELETE FROM removed WHERE settled = 0")
    }

    /// Updates the shadow with a written row.
    func settle(_ intent: Intent) throws {
        try access.perform(
            "UPDATE removed SET settled = 1 WHERE id = ? AND settled = 0",
            .id(intent.id)
        )
        try access.shadow.forgetLeaf(at: intent.key, of: intent.table)
        if let image = intent.new {
            let row = ShownRow(
                key: intent.key,
                id: intent.id,
                causalLength: intent.causalLength,
                image: image
            )
            // The row may have been at another key, and another row at this key.
            if let old = try access.shadow.row(intent.id), old.key != intent.key {
                try access.shadow.forgetLeaf(at: old.key, of: intent.table)
                try access.shadow.hide(old, in: intent.table)
            }
            try access.shadow.show(row, in: intent.table)
            try access.shadow.forgetFormerKey(of: intent.id)
        } else if let old = try access.shadow.row(intent.id), old.key == intent.key {
            try access.shadow.hide(old, in: intent.table)
        }
    }
}

extension SidecarAccess {
    var intents: Intents { Intents(access: self) }
}
