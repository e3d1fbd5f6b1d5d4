public import Foundation
internal import GRDB

extension RunLog {
    /// One check of one backup.
    public struct Check: Sendable, Equatable {
        /// How deep a check went; a deeper one includes those before it.
        public enum Depth: String, Sendable, CaseIterable, Comparable {
            /// What the archive says of itself, and a part of its data against its SHA-256.
            case part
            /// Every byte, against its SHA-256.
            case data
            /// A restore into a directory of its own, with every store checked.
            case restore

            public static func < (left: Depth, right: Depth) -> Bool {
                allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
            }
        }

        /// The part of the data that a check read.
        public enum Part: Sendable, Equatable, CustomStringConvertible {
            /// One of several that make up all: `3/7`.
            case one(Int, of: Int)
            /// Some of it at random: `10%`.
            case share(String)

            /// Reads `3/7`; all else is a share.
            init(_ text: String) {
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

        /// The remote folder's address.
        public var address: String
        /// The backup's file name.
        public var name: String
        /// Bytes in its archive: one of another size is another backup.
        public var size: Int64
        public var time: Date
        public var depth: Depth
        /// Which part was read, where the depth is `part`.
        public var part: Part?
        /// What was found to be wrong; `nil` for a backup that is whole.
        public var damage: String?

        public init(
            address: String,
            name: String,
            size: Int64,
            time: Date,
            depth: Depth,
            part: Part? = nil,
            damage: String? = nil
        ) {
            self.address = address
            self.name = name
            self.size = size
            self.time = time
            self.depth = depth
            self.part = part
            self.damage = damage
        }

        /// What the table has for the depth: `data`, `part 3/7`.
        fileprivate var column: String {
            depth.rawValue + (part.map { " \($0)" } ?? "")
        }
    }

    /// Kept in all; the oldest go first.
    static let checksLimit = 100_000

    /// Remembers a check: the last one of each depth, and of each part, of each backup.
    ///
    /// A share that is read at random and found whole does not make one that was damaged forgotten: the
    /// damage may be where it did not look.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func recordCheck(_ check: Check) throws {
        try writing { database in
            if case .share = check.part, check.damage == nil,
                try Self.isDamaged(check, database)
            {
                return
            }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO backup_check (address, name, depth, size, time, damage)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    check.address, check.name, check.column, check.size,
                    milliseconds(check.time), check.damage,
                ]
            )
            try database.execute(
                sql: """
                    DELETE FROM backup_check WHERE rowid <= (SELECT rowid FROM backup_check
                        ORDER BY rowid DESC LIMIT 1 OFFSET ?)
                    """,
                arguments: [Self.checksLimit]
            )
        }
    }

    /// Whether the same kind of check found the same archive damaged.
    private static func isDamaged(_ check: Check, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT damage IS NOT NULL FROM backup_check
                    WHERE address = ? AND name = ? AND depth = ? AND size = ?
                """,
            arguments: [check.address, check.name, check.column, check.size]
        ) ?? false
    }

    /// The last checks of the backups in a remote folder, by file name: of each the last one of each
    /// depth and of each part, in the order in which they were recorded.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func lastChecks(in address: String) throws -> [String: [Check]] {
        try reading(else: [:]) { database in
            let checks = try Row.fetchAll(
                database,
                sql: "SELECT * FROM backup_check WHERE address = ? ORDER BY rowid",
                arguments: [address]
            )
            .compactMap(Check.init)
            return Dictionary(grouping: checks, by: \.name)
        }
    }

    /// Forgets the checks of backups that are not there any more.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func keepChecks(of names: Set<String>, in address: String) throws {
        let gone = try Set(lastChecks(in: address).keys).subtracting(names)
        guard !gone.isEmpty else { return }
        try writing { database in
            for name in gone {
                try database.execute(
                    sql: "DELETE FROM backup_check WHERE address = ? AND name = ?",
                    arguments: [address, name]
                )
            }
        }
    }
}

extension RunLog.Check {
    /// `nil` for a depth that a newer version knows.
    fileprivate init?(_ row: Row) {
        let words = (row["depth"] as String).split(separator: " ", maxSplits: 1).map(String.init)
        guard let depth = words.first.flatMap(Depth.init(rawValue:)),
            (depth == .part) == (words.count == 2)
        else { return nil }
        self.init(
            address: row["address"],
            name: row["name"],
            size: row["size"],
            time: date(row["time"]),
            depth: depth,
            part: words.count == 2 ? Part(words[1]) : nil,
            damage: row["damage"]
        )
    }
}
