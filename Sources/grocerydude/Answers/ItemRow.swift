internal import Sample

/// An item of the sample store.
struct ItemRow: AnswerRow {
    var id: String
    var name: String
    var quantity: Double
    var unit: String?
    var listed: Bool
    var collected: Bool
    var locationAtHome: String?
    var locationAtShop: String?
    var photo: Bool

    init(_ item: GroceryStore.Item) {
        id = item.identity
        name = item.name
        quantity = item.quantity
        unit = item.unit
        listed = item.isListed
        collected = item.isCollected
        locationAtHome = item.locationAtHome
        locationAtShop = item.locationAtShop
        photo = item.hasPhoto
    }

    static func write(_ rows: [ItemRow], to console: Console) {
        let cells = rows.map { row in
            [
                "\(row.listed ? "*" : " ") \(row.name)", row.amount,
                [row.locationAtHome, row.locationAtShop].compactMap(\.self)
                    .joined(separator: ", "),
                row.photo ? "photo" : "",
            ]
        }
        console.answer(lines: Columns(rows: cells).lines)
    }

    private var amount: String {
        let isWhole = quantity == quantity.rounded() && abs(quantity) < 1e15
        return "\(isWhole ? String(Int(quantity)) : String(quantity)) \(unit ?? "")"
    }
}
