internal import Files
public import SystemPackage

extension Store {
    /// Opens the store, which nobody else may be using, and checks it without changing a byte.
    ///
    /// - Parameters:
    ///   - level: how thoroughly.
    ///   - isStrict: whether a remark, such as on foreign keys, is damage.
    ///   - scratchParent: where a copy goes if there is a journal or a log to be played back first.
    ///   - checkCancellation: asked in the middle of long queries; what it throws ends them.
    /// - Returns: remarks; none of them is damage.
    /// - Throws: `StoreError.damaged` with the first damage found. A part that cannot be checked
    ///   without a collation or a module of the application is taken for good.
    @discardableResult
    public func check(
        _ level: CheckLevel,
        isStrict: Bool = false,
        scratchParent: FilePath,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> [StoreFinding] {
        try refuseStrangeSidecars()
        let connection: Connection
        var copy: ReadTransaction?
        // The copy goes with its transaction.
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

    /// Opens the store as a backup does, whoever else is using it, and changes no byte.
    ///
    /// - Parameters:
    ///   - scratchParent: where a copy goes if the store must be recovered before it can be read.
    ///   - busyTimeout: how long to wait for a writer that lets nobody read.
    /// - Throws: `StoreError.damaged` if SQLite can make no sense of it. Any other `StoreError`,
    ///   and a `FileError`, says why it could not be looked at, and nothing of the store itself.
    public func open(scratchParent: FilePath, busyTimeout: Duration) throws {
        _ = try beginReading(scratchParent: scratchParent, busyTimeout: busyTimeout)
    }
}
