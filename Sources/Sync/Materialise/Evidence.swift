internal import Changes
internal import Stores

/// The evidence in a store's rows for or against an interrupted write.
struct Evidence {
    private let intents: [Intent]
    private let sidecar: Sidecar

    init(_ intents: [Intent], _ sidecar: Sidecar) {
        self.intents = intents
        self.sidecar = sidecar
    }

    /// Returns whether more values are as in the new state than as in the old one.
    ///
    /// An application may have edited every row since: a row that is there, or gone, counts whatever its values are.
    func isWritten(in snapshot: StoreSnapshot) throws -> Bool {
        let (_, tables) = try sidecar.tables(in: snapshot)
        var (new, old) = (0, 0)
        for table in tables {
            let expected = intents.filter { $0.table == table.name }
            guard !expected.isEmpty else { continue }
            let images = try images(of: Set(expected.map(\.key)), in: table, snapshot)
            for intent in expected where intent.old != intent.new {
                let image = images[intent.key]
                guard let before = intent.old, let after = intent.new, let image else {
                    if (image == nil) == (intent.new == nil) { new += 1 }
                    if (image == nil) == (intent.old == nil) { old += 1 }
                    continue
                }
                let (was, will, now) = (
                    try before.partsByColumn(), try after.partsByColumn(), try image.partsByColumn()
                )
                for (column, part) in now where was[column] != will[column] {
                    if part == will[column] { new += 1 }
                    if part == was[column] { old += 1 }
                }
            }
        }
        return new > old
    }

    private func images(
        of keys: Set<RowKey>,
        in table: TableMapping,
        _ snapshot: StoreSnapshot
    ) throws -> [RowKey: RowImage] {
        let numbers = try sidecar.write { try $0.numbers(of: table) }
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
