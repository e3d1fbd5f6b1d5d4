internal import CSQLite
internal import CStores
internal import Files

/// A part of the answer to a query.
public enum QueryAnswer {
    /// The column names of a statement, before its rows.
    case columns([String])
    /// A row, with a value for each column.
    case row([StoredValue])
}

extension StoreSnapshot {
    /// Answers a query of one or more SQL statements that read.
    ///
    /// A statement that would write, attach a database or load something is refused before it begins, whatever the
    /// store allows.
    ///
    /// - Parameters:
    ///   - sql: the statements.
    ///   - check: a closure that is called now and then, and throws to stop.
    ///   - take: a closure that takes a part of the answer, and returns whether it wants more of the statement's.
    /// - Throws: `QueryError`; `StoreError`, also for a damaged page, after the rows before it; any error of `check`
    ///   and `take`.
    public func query(
        _ sql: String,
        checking check: @escaping () throws -> Void,
        _ take: (QueryAnswer) throws -> Bool
    ) throws {
        try connection.refuseUnparsedSchema()
        let handle = try connection.handle()
        try connection.interruptible(by: check) {
            try reading {
                let statements = try compile(sql, in: handle)
                defer { for statement in statements { sqlite3_finalize(statement.pointer) } }
                for statement in statements { try step(statement, handle, sql, take) }
            }
        }
    }

    /// A compiled statement, with its position in the text.
    private struct Compiled {
        var pointer: OpaquePointer
        var start: Int
    }

    /// Returns whether a text ends with a complete statement (https://www.sqlite.org/c3ref/complete.html).
    public static func isComplete(_ sql: String) -> Bool { sqlite3_complete(sql) != 0 }

    /// Compiles all statements of a text, before any of them runs.
    private func compile(_ sql: String, in handle: OpaquePointer) throws -> [Compiled] {
        var statements: [Compiled] = []
        do {
            var offset = 0
            while offset < sql.utf8.count {
                let start = offset
                if let pointer = try compile(sql, from: &offset, in: handle) {
                    statements.append(Compiled(pointer: pointer, start: start))
                }
                guard offset > start else { break }
            }
            return statements
        } catch {
            for statement in statements { sqlite3_finalize(statement.pointer) }
            throw error
        }
    }

    /// Compiles the next statement of a text.
    ///
    /// - Returns: `nil` if only a comment is left.
    private func compile(
        _ sql: String,
        from offset: inout Int,
        in handle: OpaquePointer
    ) throws -> OpaquePointer? {
        let queryGuard = QueryGuard()
        let start = offset
        var pointer: OpaquePointer?
        let code = queryGuard.guarding(handle) {
            sql.utf8.dropFirst(start).withContiguousBytes { bytes in
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(handle, bytes, -1, &pointer, &tail)
                if let tail { offset += tail - bytes }
                return code
            }
        }
        if queryGuard.refusal == nil, code == SQLITE_OK, pointer == nil { return nil }
        guard queryGuard.refusal == nil, code == SQLITE_OK, let pointer,
            sqlite3_stmt_readonly(pointer) != 0
        else {
            defer { sqlite3_finalize(pointer) }
            if let refusal = queryGuard.refusal { throw QueryError.refused(refusal) }
            throw code == SQLITE_OK
                ? QueryError.refused(QueryGuard.writes) : failure(code, handle, sql, from: start)
        }
        return pointer
    }

    private func step(
        _ statement: Compiled,
        _ handle: OpaquePointer,
        _ sql: String,
        _ take: (QueryAnswer) throws -> Bool
    ) throws {
        let (pointer, start) = (statement.pointer, statement.start)
        let count = sqlite3_column_count(pointer)
        guard count > 0 else {
            let code = sqlite3_step(pointer)
            guard code == SQLITE_DONE else { throw failure(code, handle, sql, from: start) }
            return
        }
        let names = (0..<count).map { sqlite3_column_name(pointer, $0).map { String(cString: $0) } }
        guard try take(.columns(names.map { $0 ?? "" })) else { return }
        while true {
            switch sqlite3_step(pointer) {
            case SQLITE_ROW:
                guard try take(.row((0..<count).map { Statement.value(of: pointer, $0) })) else {
                    return
                }
            case SQLITE_DONE: return
            case let code: throw failure(code, handle, sql, from: start)
            }
        }
    }

    /// Returns the error of the call that just failed, with its position in the text and a similar name that exists.
    private func failure(
        _ code: CInt,
        _ handle: OpaquePointer,
        _ sql: String,
        from start: Int
    ) -> any Error {
        let message = String(cString: sqlite3_errmsg(handle))
        // Other errors are about the store, and not about the query.
        guard [SQLITE_ERROR, SQLITE_RANGE, SQLITE_TOOBIG, SQLITE_MISMATCH].contains(code & 0xFF),
            !message.contains("malformed")
        else { return StoreError(path.description, code: code, of: handle) }
        let offset = cstores_error_offset(UnsafeMutableRawPointer(handle))
        return QueryError.wrong(
            reason: message,
            near: offset < 0 ? nil : QueryError.Place(ofByte: start + Int(offset), in: sql),
            nearest: nearest(toMissing: message)
        )
    }

    /// Returns the name of a table or column that resembles the one that SQLite did not find.
    private func nearest(toMissing message: String) -> String? {
        let isTable = message.hasPrefix("no such table: ")
        guard isTable || message.hasPrefix("no such column: "),
            let missing = message.split(separator: ": ").last?.split(separator: ".").last,
            let schema = try? schema()
        else { return nil }
        let names =
            isTable ? schema.tables.map(\.name) : schema.tables.flatMap { $0.columns.map(\.name) }
        return nearestName(to: String(missing), among: names)
    }
}

extension Sequence<UInt8> {
    /// Passes the bytes, followed by a NUL, to a closure.
    fileprivate func withContiguousBytes<Result>(
        _ body: (UnsafePointer<CChar>) throws -> Result
    ) rethrows -> Result {
        let bytes = map { CChar(bitPattern: $0) } + [0]
        return try bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("it has a NUL") }
            return try body(start)
        }
    }
}
