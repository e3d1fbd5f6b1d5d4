internal import CSQLite

/// A progress handler, by which SQLite can be stopped during a long query
/// (https://www.sqlite.org/c3ref/progress_handler.html).
final class QueryWatch {
    private let check: () throws -> Void
    private var error: (any Error)?

    private init(_ check: @escaping () throws -> Void) {
        self.check = check
    }

    /// The number of SQLite's steps between two calls of the handler: in a hostile schema, each row may take a second.
    private static let interval: CInt = 50

    /// The length in bytes that a value may have in any store, however small.
    private static let leastLength: Int64 = 256 << 10

    /// Runs `body`, whose long queries can be stopped.
    ///
    /// SQLite asks the handler between two steps of a statement only. A function in a hostile schema could compute for
    /// hours, and take gigabytes, within one step. So no value may be longer than eight times the store, enough for all its
    /// rows as JSON.
    /// - Throws: the error of `check`, in place of the query's error.
    static func watching<Result>(
        _ database: OpaquePointer,
        _ check: @escaping () throws -> Void,
        _ body: () throws -> Result
    ) throws -> Result {
        let watch = QueryWatch(check)
        let callback: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { context in
            guard let context else { return 0 }
            let watch = Unmanaged<QueryWatch>.fromOpaque(context).takeUnretainedValue()
            do {
                try watch.check()
                return 0
            } catch {
                watch.error = error
                return 1
            }
        }
        let context = Unmanaged.passUnretained(watch).toOpaque()
        sqlite3_progress_handler(database, interval, callback, context)
        defer { sqlite3_progress_handler(database, 0, nil, nil) }
        // A negative limit leaves it as it is (https://www.sqlite.org/c3ref/limit.html).
        let limit = size(of: database).map { max(8 * $0, leastLength) } ?? -1
        let before = sqlite3_limit(database, SQLITE_LIMIT_LENGTH, CInt(clamping: limit))
        defer { sqlite3_limit(database, SQLITE_LIMIT_LENGTH, before) }
        let result = Swift.Result { try body() }
        if let error = watch.error { throw error }
        return try result.get()
    }

    /// Returns the length of a database in bytes; `nil` if SQLite cannot read it.
    private static func size(of database: OpaquePointer) -> Int64? {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        guard let statement = try? Statement(database, name: "", sql),
            (try? statement.step()) == true
        else { return nil }
        return statement.integer(0)
    }
}
