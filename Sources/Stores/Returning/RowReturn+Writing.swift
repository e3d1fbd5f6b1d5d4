internal import CSQLite
internal import Files
internal import GRDB
internal import SystemPackage

extension RowReturn {
    /// Brings the rows back, then rolls back.
    ///
    /// It fails in the cases in which `run` fails, and changes nothing.
    ///
    /// - Parameters:
    ///   - store: the live store.
    ///   - busyTimeout: the longest wait for another writer.
    ///   - check: a closure that is called now and then, and throws to stop.
    /// - Returns: the outcome that `run` would have.
    /// - Throws: the same errors as `run`.
    public func attempt(
        on store: Store,
        busyTimeout: Duration,
        check: () throws -> Void
    ) throws -> Outcome {
        try run(on: store, busyTimeout: busyTimeout, keepsRows: false, check: check)
    }

    /// Brings the rows back.
    ///
    /// - Parameters:
    ///   - store: the live store.
    ///   - busyTimeout: the longest wait for another writer.
    ///   - check: a closure that is called now and then, and throws to stop; then nothing is written.
    /// - Returns: the outcome.
    /// - Throws: `RowReturnError`; `StoreError`, which is `.busyWriting` if another writer does not finish. Nothing
    ///   is written if it throws.
    public func run(
        on store: Store,
        busyTimeout: Duration,
        check: () throws -> Void
    ) throws -> Outcome {
        try run(on: store, busyTimeout: busyTimeout, keepsRows: true, check: check)
    }

    private func run(
        on store: Store,
        busyTimeout: Duration,
        keepsRows: Bool,
        check: () throws -> Void
    ) throws -> Outcome {
        let name = store.path.description
        do {
            try SuperJournal.refuseForeign(beside: store)
            let log = try FileInfo.ifPresent(store.sidecar("-wal"))
            let connection = try Connection(
                store.location,
                name: name,
                access: .own,
                busyTimeout: busyTimeout
            )
            let outcome = try connection.access { database in
                guard let handle = database.sqliteConnection else {
                    throw StoreError.unreadable(name, reason: "its connection is closed")
                }
                // An attempt must not move the log into the store when it closes.
                if !keepsRows, log.map({ $0.size > 0 }) ?? false { _ = csqlite_keep_log(handle) }
                return try write(handle, name, keepsRows: keepsRows, check)
            }
            try connection.close()
            return outcome
        } catch StoreError.busy(let name) {
            throw StoreError.busyWriting(name)
        } catch StoreError.unreadable(_, let reason) {
            throw RowReturnError(reason, table: into.name, store: name)
                ?? StoreError.unreadable(name, reason: reason)
        }
    }

    private func write(
        _ handle: OpaquePointer,
        _ name: String,
        keepsRows: Bool,
        _ check: () throws -> Void
    ) throws -> Outcome {
        func execute(_ sql: String) throws {
            let statement = try Statement(handle, name: name, sql)
            while try statement.step() {}
        }
        try execute("PRAGMA foreign_keys = ON")
        try execute("BEGIN IMMEDIATE")
        do {
            try execute("PRAGMA defer_foreign_keys = ON")
            let schema = try StoreSchema(of: handle, name: name)
            guard schema.table(into.name) == into else { throw RowReturnError.changedSchema(name) }
            let entities =
                schema.isCoreData ? try EntityNumbers(of: self, in: handle, name: name) : nil
            let target = try ReturnTarget(handle, name: name, self, schema)
            let outcome = try run(into: target, entities, check)
            try target.confirmInserted()
            try entities?.raiseGreatestKey()
            guard csqlite_broken_references(handle) == 0 else {
                throw RowReturnError.missingParents(into.name, try missingParents(handle, name))
            }
            try execute(keepsRows ? "COMMIT" : "ROLLBACK")
            return outcome
        } catch {
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    private func run(
        into target: ReturnTarget,
        _ entities: EntityNumbers?,
        _ check: () throws -> Void
    ) throws -> Outcome {
        let conversion = try ColumnConversion(of: self)
        var count = 0
        func forEach(_ body: (Int64, [StoredValue]) throws -> Void) throws {
            try forEachRow { rowID, values in
                count += 1
                if count % 256 == 0 { try check() }
                let mapped = try entities?.mapped(values) ?? values
                try body(rowID, conversion?.converted(mapped) ?? mapped)
            }
        }
        guard identity == .content else {
            try forEach(target.bring)
            return target.outcome
        }
        // This restores as many copies of each row as there were, and replaces no other row.
        var missing: [Digest: Int64] = [:]
        try forEach { _, values in missing[Digest(ofRow: values), default: 0] += 1 }
        try target.forEachRow { values in
            count += 1
            if count % 256 == 0 { try check() }
            let digest = Digest(ofRow: values)
            guard let copies = missing[digest], copies > 0 else { return }
            missing[digest] = copies - 1
            target.outcome.unchanged += 1
        }
        try forEach { rowID, values in
            let digest = Digest(ofRow: values)
            guard let copies = missing[digest], copies > 0 else { return }
            missing[digest] = copies - 1
            try target.insert(rowID, values)
        }
        return target.outcome
    }

    /// Returns the tables at the other end of broken references: parents that rows lack, or children that lack rows.
    private func missingParents(_ handle: OpaquePointer, _ name: String) throws -> [String] {
        let statement = try Statement(
            handle,
            name: name,
            "SELECT DISTINCT \"table\", parent FROM pragma_foreign_key_check"
        )
        var tables: [ExactString] = []
        while try statement.step() {
            let (table, parent) = (statement.text(0) ?? "", statement.text(1) ?? "")
            tables.append(table.exact == into.name.exact ? parent.exact : table.exact)
        }
        return Set(tables).sorted().map(\.text)
    }
}

extension Digest {
    /// Hashes the values of a row, byte for byte.
    fileprivate init(ofRow values: [StoredValue]) {
        var bytes: [UInt8] = []
        func append(_ number: UInt64) {
            Swift.withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        for value in values {
            bytes.append(value.storageClass.rawValue)
            switch value {
            case .null: break
            case .integer(let number): append(UInt64(bitPattern: number))
            case .real(let bits): append(bits)
            case .text(let text), .blob(let text):
                append(UInt64(text.count))
                text.withUnsafeBytes { bytes.append(contentsOf: $0) }
            }
        }
        self = bytes.withUnsafeBytes { Digest(of: $0) }
    }
}
