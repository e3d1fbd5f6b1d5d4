public import Files
internal import GRDB
public import SystemPackage

/// How thoroughly a store is checked.
public enum CheckLevel: String, CaseIterable, Sendable {
    /// Not at all; it has to open all the same.
    case none
    /// `PRAGMA quick_check` (https://www.sqlite.org/pragma.html#pragma_quick_check).
    case quick
    /// `PRAGMA integrity_check` and `PRAGMA foreign_key_check`.
    case full
}

extension Store {
    /// Opens the store, which nobody else may be using, and checks it without changing a byte.
    ///
    /// - Parameters:
    ///   - level: how thoroughly.
    ///   - scratchParent: where a copy goes if there is a journal or a log to be played back first.
    ///   - checkCancellation: asked in the middle of long queries; what it throws ends them.
    /// - Throws: `StoreError.damaged` with SQLite's first finding. What cannot be checked for want
    ///   of a collation or a module of the application is taken for good.
    public func check(
        _ level: CheckLevel,
        scratchParent: FilePath,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws {
        try refuseStrangeSidecars()
        guard try hasJournalOrLog() else {
            let connection = try Connection(
                location,
                name: path.description,
                access: .immutable,
                busyTimeout: .zero
            )
            try connection.begin()
            return try require(connection.findings(level, checkCancellation: checkCancellation))
        }
        guard let session = try beginOnRecoveredCopy(scratchParent) else {
            throw StoreError.neverStill(path.description)
        }
        try withExtendedLifetime(session) {
            let connection = session.connection
            try require(connection.findings(level, checkCancellation: checkCancellation))
        }
    }

    /// Opens the store and reads from it as a backup does, whoever else is using it.
    ///
    /// It takes part in SQLite's locking and changes no byte; in WAL mode a writer goes on meanwhile.
    ///
    /// - Parameters:
    ///   - scratchParent: where a copy goes if the store must be recovered before it can be read.
    ///   - busyTimeout: how long to wait for a writer that lets nobody read.
    /// - Throws: `StoreError.damaged` where SQLite can make no sense of it. Any other `StoreError`,
    ///   and a `FileError`, says why it could not be looked at, and nothing of the store itself.
    public func open(scratchParent: FilePath, busyTimeout: Duration) throws {
        let session = try beginReading(scratchParent: scratchParent, busyTimeout: busyTimeout)
        withExtendedLifetime(session) {}
    }

    private func require(_ findings: [String]) throws {
        guard let finding = findings.first else { return }
        throw StoreError.damaged(path.description, reason: finding)
    }

    /// Finds processes that have the store open: by SQLite's own locks, and where the system tells,
    /// by their open files, since an idle connection in a rollback mode has no lock.
    ///
    /// Nothing is opened for writing, and no lock is taken.
    public func users() throws -> [LockHolder] {
        var holders: [LockHolder] = []
        let ranges: [(FilePath, Int64, Int64)] = [
            (location, LockBytes.first, LockBytes.length),
            (sidecar("-shm"), LockBytes.index, LockBytes.indexLength),
        ]
        for (path, start, length) in ranges where try FileInfo.ifPresent(path)?.kind == .file {
            if let holder = try File.open(path).recordLockHolder(from: start, length: length),
                !holders.contains(holder)
            {
                holders.append(holder)
            }
        }
        return holders
    }
}

extension StoreSnapshot {
    /// Checks the store in the snapshot's transaction.
    ///
    /// - Parameters:
    ///   - level: how thoroughly.
    ///   - checkCancellation: asked in the middle of long queries; what it throws ends them.
    /// - Returns: SQLite's first finding of each kind of check, in its words; none where all is well.
    /// - Throws: `StoreError` where SQLite cannot go on for another reason than damage.
    public func findings(
        _ level: CheckLevel,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> [String] {
        try connection.findings(level, checkCancellation: checkCancellation)
    }
}

extension Connection {
    /// See `StoreSnapshot.findings`.
    fileprivate func findings(
        _ level: CheckLevel,
        checkCancellation: @escaping () throws -> Void
    ) throws -> [String] {
        try interruptible(by: checkCancellation) {
            let findings =
                switch level {
                case .none: [String?]()
                case .quick: [try finding(of: "quick_check(1)", otherwise: findingInTables)]
                case .full:
                    [
                        try finding(of: "integrity_check(1)", otherwise: findingInTables),
                        try finding(of: "foreign_key_check"),
                    ]
                }
            return findings.compactMap(\.self)
        }
    }

    // The other is asked where the database needs a collation or a module of the application that is not
    // here, which is no damage.
    private func finding(
        of pragma: String,
        otherwise other: () throws -> String? = { nil }
    ) throws -> String? {
        do {
            return try access { database in
                guard let row = try Row.fetchOne(database, sql: "PRAGMA \(pragma)") else {
                    return nil
                }
                if pragma == "foreign_key_check" {
                    let table = row[0] as String? ?? "?"
                    return "a row of '\(table)' refers to one that is not there"
                }
                // The first line may name the database, "main", which says nothing here.
                let text = row[0] as String? ?? ""
                return text == "ok" ? nil : text.split(separator: "\n").last.map(String.init) ?? ""
            }
        } catch StoreError.damaged(_, let reason) {
            return reason
        } catch StoreError.unreadable(_, let reason) where reason.hasPrefix("no such") {
            return try other()
        }
    }

    /// Checks what can do without.
    private func findingInTables() throws -> String? {
        let tables = try access { database in
            try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            )
        }
        for table in tables {
            let name = table.replacing("'", with: "''")
            if let finding = try finding(of: "quick_check('\(name)')") { return finding }
        }
        return nil
    }
}
