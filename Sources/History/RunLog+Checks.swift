public import Files
public import Foundation
internal import GRDB

extension RunLog {
    /// One check of one backup.
    public struct Check: Sendable, Equatable {
        /// The depth of a check; a deeper one includes the ones before it.
        public enum Depth: String, Sendable, CaseIterable, Comparable {
            /// A check of the archive's description of itself, and of a part of its data against the SHA-256.
            case part
            /// A check of every byte against the SHA-256.
            case data
            /// A restore into a separate directory, with a check of every store.
            case restore

            public static func < (left: Depth, right: Depth) -> Bool {
                allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
            }
        }

        /// The part of the data that a check read.
        public enum Part: Sendable, Equatable, CustomStringConvertible {
            /// One of several parts that make up all data: `3/7`.
            case one(Int, of: Int)
            /// A random share: `10%`.
            case share(String)

            /// Parses `3/7`; any other text is a share.
            public init(_ text: String) {
                let numbers = text.split(separator: "/").compactMap { Int($0) }
                self = numbers.count == 2 ? .one(numbers[0], of: numbers[1]) : .share(text)
            }

            public var description: String {
                switch self {
                case .one(let part, let count): "\(part)/\(count)"
                case .share(let text): text
                }
            }
        }

        /// The backup's identity.
        public var id: String
        /// The address of the backup's remote folder.
        public var address: String
        /// The backup's file name in that folder.
        public var name: String
        public var time: Date
        public var depth: Depth
        /// The part that was read, if the depth is `part`.
        public var part: Part?
        /// The damage; `nil` if none was found.
        public var damage: String?
        /// The file's size in bytes; `nil` if an earlier version recorded the check.
        public var size: Int64?

        public init(
            id: String,
            address: String,
            name: String,
            time: Date,
            depth: Depth,
            part: Part? = nil,
            damage: String? = nil,
            size: Int64? = nil
        ) {
            self.id = id
            self.address = address
            self.name = name
            self.time = time
            self.depth = depth
            self.part = part
            self.damage = damage
            self.size = size
        }

        /// Whether it read a random share, so that another one of this size read other data.
        var isOfUnknownData: Bool {
            if case .share = part { true } else { false }
        }

        /// Returns whether both have the same depth, and read the same part or a share of the same size.
        func isOfSameData(as other: Check) -> Bool { column == other.column }

        /// The text for depth and part in the table: `data`, `part 3/7`.
        fileprivate var column: String { depth.rawValue + (part.map { " \($0)" } ?? "") }
    }

    /// The maximum number of checks that are kept; the oldest are removed first.
    static let checksLimit = 100_000
    /// The number of additional checks before the oldest are removed.
    private static let checksGrain: Int64 = 1_000

    /// Records a check.
    ///
    /// Each backup keeps the last check of each depth and each part.
    ///
    /// An undamaged random share does not refute damage in another share, since it may have read other data.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func recordCheck(_ check: Check) throws {
        try writing { database in
            if check.isOfUnknownData, check.damage == nil, try Self.isDamaged(check, database) {
                return
            }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO backup_check (id, address, name, depth, time, damage, size)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    check.id, check.address, check.name, check.column,
                    milliseconds(check.time), check.damage, check.size,
                ]
            )
            // Counting takes a look at each row, so it happens only now and then.
            guard database.lastInsertedRowID % Self.checksGrain == 0 else { return }
            try database.execute(
                sql: """
                    DELETE FROM backup_check WHERE rowid <= (SELECT rowid FROM backup_check
                        ORDER BY rowid DESC LIMIT 1 OFFSET ?)
                    """,
                arguments: [Self.checksLimit]
            )
        }
    }

    /// Returns whether the same kind of check found the same archive damaged before.
    private static func isDamaged(_ check: Check, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT damage IS NOT NULL FROM backup_check
                    WHERE id = ? AND address = ? AND name = ? AND depth = ?
                """,
            arguments: [check.id, check.address, check.name, check.column]
        ) ?? false
    }

    /// Returns the last check in a folder that found no damage and was at least so deep; `nil` if there was none.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func lastGoodCheck(at address: String, depth: Check.Depth) throws -> Check? {
        try reading(else: nil) { database in
            try Row.fetchCursor(
                database,
                sql: """
                    SELECT * FROM backup_check WHERE address = ? AND damage IS NULL
                        ORDER BY time DESC
                    """,
                arguments: [address]
            )
            .compactMap(Check.init).first { $0.depth >= depth }
        }
    }

    /// Returns the last checks of some backups, by identity: for each file of a backup the last check of each depth and
    /// part, in the order of recording.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func lastChecks(of ids: Set<String>) throws -> [ExactString: [Check]] {
        try reading(else: [:]) { database in
            var found: [Check] = []
            let ids = ids.sorted()
            // SQLite has a limit on the number of arguments (limits.html, 9).
            for start in stride(from: 0, to: ids.count, by: 500) {
                let some = ids[start..<min(start + 500, ids.count)]
                let marks = some.map { _ in "?" }.joined(separator: ", ")
                found += try Row.fetchAll(
                    database,
                    sql: "SELECT * FROM backup_check WHERE id IN (\(marks)) ORDER BY rowid",
                    arguments: StatementArguments(some)
                )
                .compactMap(Check.init)
            }
            return Dictionary(grouping: found, by: \.id.exact)
        }
    }
}

extension RunLog.Check {
    /// Returns `nil` for a depth of a newer version.
    fileprivate init?(_ row: Row) {
        let words = (row["depth"] as String).split(separator: " ", maxSplits: 1).map(String.init)
        guard let depth = words.first.flatMap(Depth.init(rawValue:)),
            (depth == .part) == (words.count == 2)
        else { return nil }
        self.init(
            id: row["id"],
            address: row["address"],
            name: row["name"],
            time: date(row["time"]),
            depth: depth,
            part: words.count == 2 ? Part(words[1]) : nil,
            damage: row["damage"],
            size: row["size"]
        )
    }
}

extension RunLogSchema {
    /// Adds the size of each checked file.
    static func addCheckedSizes(_ database: Database) throws {
        try database.alter(table: "backup_check") { $0.add(column: "size", .integer) }
    }
}
