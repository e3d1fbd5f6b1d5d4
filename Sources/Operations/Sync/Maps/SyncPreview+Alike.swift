internal import Changes
internal import Files
internal import Stores
internal import Sync

extension SyncPreview {
    /// Finds rows that are equal in the columns by which the map identifies them.
    ///
    /// A device that shows one of them would not show the other.
    ///
    /// - Parameters:
    ///   - snapshot: the store of this preview.
    ///   - checkCancellation: called during long queries; its error ends them.
    /// - Returns: a refusal for each table with such rows.
    /// - Throws: `StoreError`.
    func alikeRows(
        in snapshot: StoreSnapshot,
        checkCancellation: @escaping () throws -> Void
    ) throws -> [SyncRefusal] {
        var refusals: [SyncRefusal] = []
        for table in tables where table.identity == .named {
            let columns = table.columns.map(\.sqlIdentifier)
            let isNamed = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            let names = columns.map { "\($0) COLLATE BINARY" }.joined(separator: ", ")
            let sql =
                "SELECT 1 FROM main.\(table.name.sqlIdentifier) WHERE \(isNamed) GROUP BY \(names) HAVING count(*) > 1 LIMIT 1"
            try snapshot.query(sql, checking: checkCancellation) { answer in
                guard case .row = answer else { return true }
                refusals.append(.ambiguousIdentity(table: table.name, columns: table.columns))
                return false
            }
        }
        return refusals
    }
}

extension Store {
    /// Returns the parts of the store that would sync by a map, and throws if the map or the store does not allow
    /// syncing.
    ///
    /// - Throws: `SyncError.refused`, `.damagedStore`, `StoreError`.
    func preview(by map: SyncMap, _ context: OperationContext) throws -> SyncPreview {
        let (preview, alike) = try withSnapshot(context) { snapshot in
            let preview = try SyncPreview(
                of: snapshot,
                map: map,
                checkCancellation: context.checkCancellation
            )
            guard preview.refusals.isEmpty else { return (preview, [SyncRefusal]()) }
            let alike = try preview.alikeRows(
                in: snapshot,
                checkCancellation: context.checkCancellation
            )
            return (preview, alike)
        }
        let refusals = preview.refusals + alike
        guard refusals.isEmpty else {
            throw SyncError.refused(store: path.description, refusals)
        }
        return preview
    }
}

extension MapProposal {
    /// Proposes a map for the group that a store begins.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - map: the rules that a person has given.
    ///   - context: the context of the operation.
    /// - Throws: `StoreError`, `CancellationError`.
    init(for store: Store, _ map: SyncMap, _ context: OperationContext) throws {
        self = try store.withSnapshot(context) { snapshot in
            try MapProposal(
                of: snapshot,
                map: map,
                checkCancellation: context.checkCancellation
            )
        }
    }
}
