internal import Files
public import Stores

/// Answers questions in SQL to a store, in a backup or live.
public struct QueryStore {
    /// How much an answer may take.
    public struct Limits: Sendable {
        /// The most rows of a statement; `nil` for all.
        public var rows: Int?
        /// The longest time; `nil` for any.
        public var time: Duration?

        public init(rows: Int? = nil, time: Duration? = nil) {
            self.rows = rows
            self.time = time
        }
    }

    /// A part of an answer.
    public enum Part {
        /// The names of the columns of a statement's rows, which come next.
        case columns([String])
        case row([StoredValue])
        /// There are more rows than the limit.
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
    ///   - take: takes the parts of the answer, in order; throws to stop.
    /// - Throws: `QueryError`, `StoreError`, errors of reading the store; what `take` throws.
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
