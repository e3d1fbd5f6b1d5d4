internal import Sample

/// An item of the sample store.
struct ItemRow: AnswerRow, JSONConvertible {
    let item: GroceryStore.Item

    var json: JSONObject {
        [
            "id": item.identity, "name": item.name, "quantity": item.quantity, "unit": item.unit,
            "listed": item.isListed, "collected": item.isCollected,
            "locationAtHome": item.locationAtHome, "locationAtShop": item.locationAtShop,
            "photo": item.hasPhoto,
        ]
    }

    static func write(_ rows: [ItemRow], to console: Console) {
        let cells = rows.map { row in
            let item = row.item
            return [
                "\(item.isListed ? "*" : " ") \(item.name)", row.amount,
                [item.locationAtHome, item.locationAtShop].compactMap(\.self)
                    .joined(separator: ", "),
                item.hasPhoto ? "photo" : "",
            ]
        }
        console.answer(lines: Columns(rows: cells).lines)
    }

    private var amount: String {
        let quantity = item.quantity
        let isWhole = quantity == quantity.rounded() && abs(quantity) < 1e15
        return "\(isWhole ? String(Int(quantity)) : String(quantity)) \(item.unit ?? "")"
    }
}
