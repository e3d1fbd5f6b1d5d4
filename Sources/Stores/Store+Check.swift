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
        guard try hasJournalOrLog() else {
            let connection = try Connection(
                location,
                name: path.description,
                access: .immutable,
                busyTimeout: .zero
            )
            try connection.begin()
            return try connection.interruptible(by: checkCancellation) {
                try check(level, on: connection)
            }
        }
        guard let session = try beginOnRecoveredCopy(scratchParent) else {
            throw StoreError.neverStill(path.description)
        }
        try withExtendedLifetime(session) {
            try session.connection.interruptible(by: checkCancellation) {
                try check(level, on: session.connection)
            }
        }
    }

    private func check(_ level: CheckLevel, on connection: Connection) throws {
        let pragmas =
            switch level {
            case .none: [String]()
            case .quick: ["quick_check(1)"]
            case .full: ["integrity_check(1)", "foreign_key_check"]
            }
        for pragma in pragmas {
            if let finding = try finding(of: pragma, on: connection) {
                throw StoreError.damaged(path.description, reason: finding)
            }
        }
    }

    private func finding(of pragma: String, on connection: Connection) throws -> String? {
        do {
            return try connection.access { database in
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
        } catch StoreError.unreadable(_, let reason) where reason.hasPrefix("no such") {
            return nil
        }
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
