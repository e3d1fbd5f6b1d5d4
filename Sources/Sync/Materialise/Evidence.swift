internal import Changes
internal import Stores

/// The part of an interrupted write that a store's rows show to be done.
///
/// The application may have written since, so each row is judged by itself. A row that is not like the planned one is
/// the application's own, which got the same number, and must not be taken for it.
struct Evidence {
    private(set) var written: [Intent] = []
    private(set) var unwritten: [Intent] = []

    /// The least number of rows of which most values are the planned ones by more than chance.
    private static let many = 8

    /// Judges the intents of one transaction.
    ///
    /// - Parameters:
    ///   - intents: the intents.
    ///   - snapshot: the store.
    ///   - sidecar: the sidecar.
    /// - Throws: `StoreError`, `SidecarError`.
    init(_ intents: [Intent], in snapshot: StoreSnapshot, _ sidecar: Sidecar) throws {
        if intents.isEmpty { return }
        var unclear: [Intent] = []
        var alike = 0
        let (_, tables) = try sidecar.tables(in: snapshot)
        let byTable = Dictionary(grouping: intents, by: \.table)
        for (name, expected) in byTable {
            guard let table = tables.first(where: { $0.name == name }) else {
                unclear += expected
                continue
            }
            let numbers = try sidecar.write { try $0.numbers(of: table) }
            let images = try Self.images(of: Set(expected.map(\.key)), in: table, numbers, snapshot)
            for intent in expected {
                let sight = Sight(
                    intent: intent,
                    now: images[intent.key],
                    table: table,
                    numbers: numbers
                )
                switch try sight.verdict() {
                case true?: written.append(intent)
                case false?: unwritten.append(intent)
                case nil:
                    unclear.append(intent)
                    if try sight.isAlike() { alike += 1 }
                }
            }
        }
        // All of it was written, or nothing: what most rows show is true of those that changed or went since.
        alike += written.count
        let most = alike >= Self.many ? alike : written.count
        if most * 2 > intents.count { written += unclear } else { unwritten += unclear }
    }

    private static func images(
        of keys: Set<RowKey>,
        in table: TableMapping,
        _ numbers: [Int64],
        _ snapshot: StoreSnapshot
    ) throws -> [RowKey: RowImage] {
        var images: [RowKey: RowImage] = [:]
        var cursor = try snapshot.rows(of: table.schema, order: table.order)
        while try cursor.next() {
            let key = cursor.key
            guard keys.contains(key) else { continue }
            let values = try cursor.columns.indices.map { try cursor.value($0) }
            images[key] = table.image(values, numbers)
        }
        return images
    }
}

/// A planned change of a row, and the row as it is now.
private struct Sight {
    let intent: Intent
    let now: RowImage?
    let table: TableMapping
    let numbers: [Int64]

    /// Returns whether the change was made; `nil` if the row does not show it.
    func verdict() throws -> Bool? {
        if intent.old == intent.new { return nil }
        if now == intent.new { return true }
        guard let now else { return nil }
        if now == intent.old { return false }
        let parts = try now.partsByColumn()
        guard let new = try intent.new?.partsByColumn() else {
            // Another row may have its number now.
            let old = try intent.old?.partsByColumn() ?? [:]
            return table.likeness(old, parts, numbers).isOfSame ? false : nil
        }
        guard let old = try intent.old?.partsByColumn() else {
            return table.likeness(new, parts, numbers).isOfSame ? true : nil
        }
        let planned = numbers.filter { old[$0] != new[$0] }
        let made = planned.count { parts[$0] == new[$0] }
        let left = planned.count { parts[$0] == old[$0] }
        return made == left ? nil : made > left
    }

    /// Returns whether most values of a new row are the planned ones.
    func isAlike() throws -> Bool {
        guard intent.old == nil, let new = intent.new, let now else { return false }
        return try table.likeness(new.partsByColumn(), now.partsByColumn(), numbers).isOfMost
    }
}
