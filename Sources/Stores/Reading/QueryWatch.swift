internal import CSQLite

/// A progress handler, by which SQLite can be stopped during a long query
/// (https://www.sqlite.org/c3ref/progress_handler.html).
final class QueryWatch {
    private let check: () throws -> Void
    private var error: (any Error)?

    private init(_ check: @escaping () throws -> Void) {
        self.check = check
    }

    /// Runs `body`, whose long queries can be stopped.
    ///
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
        sqlite3_progress_handler(database, 100_000, callback, context)
        defer { sqlite3_progress_handler(database, 0, nil, nil) }
        let result = Swift.Result { try body() }
        if let error = watch.error { throw error }
        return try result.get()
    }
}
