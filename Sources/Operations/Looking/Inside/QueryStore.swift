internal import Files
public import Stores

/// Runs SQL queries on a store of a backup or of the stores directory.
public struct QueryStore {
    /// The limits of an answer.
    public struct Limits: Sendable {
        /// The greatest number of rows per statement; `nil` for no limit.
        public var rows: Int?
        /// The time limit; `nil` for none.
        public var time: Duration?

        public init(rows: Int? = nil, time: Duration? = nil) {
            self.rows = rows
            self.time = time
        }
    }

    /// A part of an answer.
    public enum Part {
        /// The column names of the rows that follow.
        case columns([String])
        case row([StoredValue])
        /// The answer has more rows than the limit.
        case cut(at: Int)
    }

    private let limits: Limits
    private let context: OperationContext

    public init(limits: Limits, context: OperationContext) {
        self.limits = limits
        self.context = context
    }

    /// Runs statements; see `StoreSnapshot.query`.
    ///
    /// - Parameters:
    ///   - sql: the statements.
    ///   - store: the store.
    ///   - take: receives the parts of the answer, in order; throws to stop.
    /// - Throws: `QueryError`, `StoreError`, errors reading the store; errors of `take`.
    public func run(
        _ sql: String,
        in store: StoreSnapshot,
        _ take: (Part) throws -> Void
    ) throws {
        let end = limits.time.map { ContinuousClock.now + $0 }
        func check() throws {
            try context.checkCancellation()
            if let end, let time = limits.time, ContinuousClock.now > end {
                throw QueryError.tookTooLong(time)
            }
        }
        var rows = 0
        try store.query(sql, checking: check) { answer in
            switch answer {
            case .columns(let names):
                rows = 0
                try take(.columns(names))
            case .row(let values):
                guard rows < limits.rows ?? .max else {
                    try take(.cut(at: rows))
                    return false
                }
                rows += 1
                try take(.row(values))
            }
            return true
        }
    }
}
