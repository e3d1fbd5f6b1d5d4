public import Files
public import SystemPackage

extension Store {
    /// Opens the store, which nobody else may be using, and checks it without changing a byte.
    ///
    /// - Parameters:
    ///   - level: the thoroughness.
    ///   - isStrict: whether a remark, such as on foreign keys, is damage.
    ///   - scratchParent: the directory for a copy, if a journal or a log must be played back first.
    ///   - checkCancellation: a closure that is called during long queries, and throws to end them.
    /// - Returns: remarks; none of them is damage.
    /// - Throws: `StoreError.damaged` with the first damage found. A part that cannot be checked without a collation
    ///   or a module of the application counts as sound.
    @discardableResult
    public func check(
        _ level: CheckLevel,
        isStrict: Bool = false,
        scratchParent: FilePath,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> [StoreFinding] {
        do {
            return try checkReadable(level, isStrict, scratchParent, checkCancellation)
        } catch let error as StoreError {
            guard let reason = try newerFormat() else { throw error }
            return [.notChecked(reason: reason)]
        }
    }

    private func checkReadable(
        _ level: CheckLevel,
        _ isStrict: Bool,
        _ scratchParent: FilePath,
        _ checkCancellation: @escaping () throws -> Void
    ) throws -> [StoreFinding] {
        try refuseStrangeSidecars()
        let connection: Connection
        var copy: ReadTransaction?
        // The copy is deleted with its transaction.
        defer { withExtendedLifetime(copy) {} }
        if try hasJournalOrLog() {
            copy = try beginOnRecoveredCopy(scratchParent)
            guard let copy else { throw StoreError.neverStill(path.description) }
            connection = copy.connection
        } else {
            connection = try Connection(location, name: path.description, access: .immutable)
            try connection.begin()
        }
        let findings = try connection.findings(level, checkCancellation: checkCancellation)
        if let damage = findings.first(where: { $0.isDamage(isStrict: isStrict) }) {
            throw StoreError.damaged(path.description, reason: damage.description)
        }
        return findings
    }

    /// Opens the store as a backup does, regardless of other users, and changes no byte.
    ///
    /// - Parameters:
    ///   - scratchParent: the directory for a copy, if the store must be recovered before it can be read.
    ///   - busyTimeout: the longest wait for a writer that excludes readers.
    /// - Throws: `StoreError.damaged` if SQLite cannot interpret it. Any other `StoreError`, and a `FileError`, only
    ///   says why the store could not be read. A store of a newer format than this SQLite reads counts as sound.
    public func open(scratchParent: FilePath, busyTimeout: Duration) throws {
        do {
            _ = try beginReading(scratchParent: scratchParent, busyTimeout: busyTimeout)
        } catch let error as StoreError {
            guard try newerFormat() != nil else { throw error }
        }
    }

    /// Returns the reason why this SQLite cannot read the store, if a newer version wrote it.
    private func newerFormat() throws -> String? {
        guard try DatabaseHeader(of: File.open(location))?.isNewer == true else { return nil }
        return "SQLite \(SQLiteLibrary.version) cannot read its format, which is newer"
    }
}

/// The thoroughness of a check.
public enum CheckLevel: String, CaseIterable, Sendable {
    /// No check; the store has to open all the same.
    case none
    /// `PRAGMA quick_check` (https://www.sqlite.org/pragma.html#pragma_quick_check).
    case quick
    /// `PRAGMA integrity_check` and `PRAGMA foreign_key_check`.
    case full
}

extension Store {
    /// Returns the processes that have the store open, by SQLite's own locks.
    ///
    /// An idle connection in a rollback mode holds no lock, and is not found. This function takes no lock.
    public func users() throws -> [LockHolder] {
        var holders: [LockHolder] = []
        let ranges: [(FilePath, Int64, Int64)] = [
            (location, LockBytes.first, LockBytes.length),
            (sidecar("-shm"), LockBytes.index, LockBytes.indexLength),
        ]
        for (path, start, length) in ranges where try FileInfo.ifPresent(path)?.kind == .file {
            let holder = try File.open(path).recordLockHolder(from: start, length: length)
            if let holder, !holders.contains(holder) { holders.append(holder) }
        }
        return holders
    }
}
