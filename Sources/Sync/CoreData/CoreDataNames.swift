internal import Files
package import Stores

/// The names in a Core Data model for the tables and columns of its store.
package struct CoreDataNames: Sendable {
    private let store: CoreDataStore

    /// Reads the model that a store keeps.
    ///
    /// - Returns: `nil` if the store does not belong to Core Data.
    /// - Throws: `StoreError`.
    package init?(_ store: ReadableStore, _ schema: StoreSchema) throws {
        guard let found = try CoreDataStore(store, schema) else { return nil }
        self.store = found
    }

    /// Returns the name of the entity whose rows a table contains, with the rows of its subentities.
    package func entity(ofTable table: String) -> String? { root(table)?.name }

    /// Returns the entity whose table contains a subentity's rows, and the subentity's number; `nil` if no subentity
    /// has the name.
    package func subentity(_ name: String) -> (root: String, number: Int64)? {
        let folded = name.foldedIdentifier.text
        guard
            let entity = store.entities.first(where: {
                $0.parent != 0 && $0.name.foldedIdentifier.text == folded
            })
        else { return nil }
        return (store.root(of: entity).name, entity.number)
    }

    /// Returns the name of a column's attribute or relationship; `nil` if the model does not contain it.
    package func property(ofColumn column: String, in table: String) -> String? {
        let folded = column.foldedIdentifier.text
        guard let root = root(table), let model = store.model, folded.hasPrefix("z"),
            !folded.hasPrefix("z_")
        else { return nil }
        let name = String(folded.dropFirst())
        let names = Set(model.family(of: root.name).flatMap(\.properties).map(\.name))
        func found(_ name: String) -> String? {
            let alike = names.filter { $0.uppercased().foldedIdentifier.text == name }
            return alike.count == 1 ? alike.first : nil
        }
        // If sibling entities have properties of one name, all columns but one end with a number.
        return found(name)
            ?? found(String(name.reversed().drop { ("0"..."9").contains($0) }.reversed()))
    }

    private func root(_ table: String) -> CoreDataStore.Entity? {
        let name = table.foldedIdentifier.text
        return store.entities.first { $0.parent == 0 && store.table(of: $0) == name }
    }
}
