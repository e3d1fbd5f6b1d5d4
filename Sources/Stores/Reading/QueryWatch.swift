internal import CSQLite

/// Whether a long query should go on, asked by SQLite in the middle of it
/// (https://www.sqlite.org/c3ref/progress_handler.html).
final class QueryWatch {
    private let check: () throws -> Void
    private var error: (any Error)?

    private init(_ check: @escaping () throws -> Void) {
        self.check = check
    }

    /// Lets long queries in `body` be stopped.
    ///
    /// - Throws: what `check` throws, in place of what the query made of that.
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
        sqlite3_progress_handler(database, 100_000, callback, context)
        defer { sqlite3_progress_handler(database, 0, nil, nil) }
        let result = Swift.Result { try body() }
        if let error = watch.error { throw error }
        return try result.get()
    }
}
