package import Stores

/// The names that a model of Core Data has for the tables and columns of its store.
package struct CoreDataNames: Sendable {
    private let store: CoreDataStore

    /// Reads the model that a store keeps.
    ///
    /// - Returns: `nil` if the store is not one of Core Data.
    /// - Throws: `StoreError`.
    package init?(_ store: ReadableStore, _ schema: StoreSchema) throws {
        guard let found = try CoreDataStore(store, schema) else { return nil }
        self.store = found
    }

    /// Returns the name of the entity whose rows a table has, with those of its subentities.
    package func entity(ofTable table: String) -> String? { root(table)?.name }

    /// Returns the entity in whose table the rows of a subentity are, and the subentity's number; `nil` if no
    /// subentity has the name.
    package func subentity(_ name: String) -> (root: String, number: Int64)? {
        let folded = name.foldedIdentifier
        guard
            let entity = store.entities.first(where: {
                $0.parent != 0 && $0.name.foldedIdentifier == folded
            })
        else { return nil }
        return (store.root(of: entity).name, entity.number)
    }

    /// Returns the name of a column's attribute or relationship; `nil` if the model does not tell.
    package func property(ofColumn column: String, in table: String) -> String? {
        let folded = column.foldedIdentifier
        guard let root = root(table), let model = store.model, folded.hasPrefix("z"),
            !folded.hasPrefix("z_")
        else { return nil }
        let name = String(folded.dropFirst())
        let names = Set(model.family(of: root.name).flatMap(\.properties).map(\.name))
        func found(_ name: String) -> String? {
            let alike = names.filter { $0.uppercased().foldedIdentifier == name }
            return alike.count == 1 ? alike.first : nil
        }
        // Of properties of one name in sibling entities, all but one have a number behind it.
        return found(name)
            ?? found(String(name.reversed().drop { ("0"..."9").contains($0) }.reversed()))
    }

    private func root(_ table: String) -> CoreDataStore.Entity? {
        let name = table.foldedIdentifier
        return store.entities.first { $0.parent == 0 && store.table(of: $0) == name }
    }
}
