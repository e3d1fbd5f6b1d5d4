internal import Files
internal import Stores

/// The wire names for the tables and columns of a Core Data store.
struct CoreDataNaming {
    private let store: CoreDataStore
    private let numbers: EntityNumbers

    init(_ store: CoreDataStore) {
        self.store = store
        numbers = EntityNumbers(store)
    }

    // MARK: - Entities

    /// Names the table of an entity and its descendants.
    func table(_ schema: TableSchema, of root: CoreDataStore.Entity) -> CoreDataTable? {
        guard schema.rowIDAlias.map({ schema.columns[$0].name.foldedIdentifier.text }) == "z_pk"
        else {
            return nil
        }
        var table = CoreDataTable(
            wireName: root.name.foldedIdentifier.text,
            counter: .init(entity: root.number, greatestKey: root.greatestKey),
            numbers: numbers
        )
        let family = Family(root.name, store)
        for place in schema.storedColumns where place != schema.rowIDAlias {
            let name = schema.columns[place].name
            if name.foldedIdentifier.text == "z_opt" {
                table.version = place
            } else {
                table.columns[place] = column(schema.columns[place], family)
            }
        }
        table.leaveEntities(schema)
        table.makeNamesUnique(schema)
        return table
    }

    private func column(_ column: ColumnSchema, _ family: Family) -> CoreDataTable.Column {
        let name = column.name.foldedIdentifier.text
        if name == "z_ent" { return .init(wireName: name, isEntity: true) }
        if name.hasPrefix("z_") { return .init(wireName: name) }
        if let numbered = NumberedName(name, prefix: "z"), numbered.name.hasPrefix("_") {
            // The column holds the entity of a reference to an entity with subentities.
            return .init(wireName: "\(numbered.name.dropFirst()).z_ent", isEntity: true)
        }
        guard name.hasPrefix("z") else { return .init(wireName: name) }
        let property = String(name.dropFirst())
        guard store.model != nil else {
            let mayRefer = column.affinity == .integer
            return .init(wireName: property, isUncertain: mayRefer)
        }
        return family.column(property, store)
    }

    // MARK: - Joins

    /// Names a table that joins rows of two entities, or of one.
    func join(_ schema: TableSchema) -> CoreDataTable? {
        let name = schema.name.foldedIdentifier.text
        guard let numbered = NumberedName(name, prefix: "z_"), schema.primaryKey.count == 2,
            let entity = store.entity(numbered.number)
        else { return nil }
        let found = store.model?.property(of: entity.name) { numbered.isOf($0.name) }
        let ends = found.map { JoinEnds($0.owner, $0.property, store) }
        var table = CoreDataTable(
            wireName: ends?.wireName
                ?? "\(entity.name.foldedIdentifier.text).\(numbered.name)",
            numbers: numbers
        )
        for place in schema.storedColumns {
            let name = schema.columns[place].name.foldedIdentifier.text
            if let end = NumberedName(name, prefix: "z_"),
                let destination = store.entity(end.number)
            {
                let reference = CoreDataTable.Reference(
                    parent: store.table(of: destination),
                    isRequired: true
                )
                table.columns[place] = .init(
                    wireName: ends?.name(of: end) ?? end.name,
                    reference: reference
                )
            } else if let order = NumberedName(name, prefix: "z_fok_") {
                table.columns[place] = .init(
                    wireName: "z_fok_\(ends?.name(of: order) ?? order.name)"
                )
            } else {
                return nil
            }
        }
        guard schema.primaryKey.allSatisfy({ table.columns[$0]?.reference != nil }) else {
            return nil
        }
        table.makeNamesUnique(schema)
        return table
    }
}

/// The relationship of a join table, and its inverse.
private struct JoinEnds {
    /// The wire name, which is the same whichever end names the table.
    let wireName: String
    private let names: [String]

    init(_ owner: String, _ property: CoreDataModel.Property, _ store: CoreDataStore) {
        let here = "\(owner).\(property.name)".foldedIdentifier.text
        var names = [property.name.foldedIdentifier.text]
        var least = here
        if let relationship = property.relationship, let inverse = relationship.inverse {
            names.append(inverse.foldedIdentifier.text)
            let back = store.model?.property(of: relationship.destination) { $0.name == inverse }
            let there = "\(back?.owner ?? relationship.destination).\(inverse)".foldedIdentifier
                .text
            least = min(here, there)
        }
        self.names = names
        wireName = least
    }

    /// Returns the relationship's name for a column; the model may have appended a number to it.
    func name(of column: NumberedName) -> String? {
        names.first { column.isOf($0) } ?? names.first { column.isOf($0, withoutDigits: true) }
    }
}

/// A name with an entity's number in it: `Z_11USERS`, `Z6_MESSAGE`, `Z_FOK_3MEMBERS`.
struct NumberedName {
    let number: Int64
    /// The rest of the name, in ASCII lower case.
    let name: String

    init?(_ folded: String, prefix: String) {
        guard folded.hasPrefix(prefix) else { return nil }
        let rest = folded.dropFirst(prefix.count)
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard let number = Int64(digits), digits.count < rest.count else { return nil }
        self.number = number
        name = String(rest.dropFirst(digits.count))
    }

    /// Returns whether it is the name of a property.
    func isOf(_ property: String, withoutDigits: Bool = false) -> Bool {
        let name = withoutDigits ? name.withoutDigits : name
        return property.uppercased().foldedIdentifier.text == name
    }
}

/// The properties of an entity and its descendants, by the columns that they share.
private struct Family {
    private let entities: [CoreDataModel.Entity]
    /// The owners and properties by the column's name without its first letter, in ASCII lower case.
    private var properties: [String: [(owner: String, property: CoreDataModel.Property)]] = [:]

    init(_ root: String, _ store: CoreDataStore) {
        guard let model = store.model else {
            entities = []
            return
        }
        entities = model.family(of: root)
        for entity in entities {
            for property in entity.properties {
                let found = model.property(of: entity.name) { $0.name == property.name }
                guard let found else { continue }
                let key = property.name.uppercased().foldedIdentifier.text
                if properties[key]?.contains(where: { $0.owner == found.owner }) == true {
                    continue
                }
                properties[key, default: []].append(found)
            }
        }
    }

    /// Returns the form of a property's column in change files.
    func column(_ name: String, _ store: CoreDataStore) -> CoreDataTable.Column {
        let key = properties[name] == nil ? name.withoutDigits : name
        guard let owners = properties[key], name == key || owners.count > 1 else {
            return .init(wireName: name)
        }
        let references = owners.map { reference(of: $0.property, store) }
        let parents = Set(references.map { $0?.parent })
        var column = CoreDataTable.Column(wireName: name)
        if parents.count == 1, let first = references[0] {
            let isRequired = references.contains { $0?.isRequired == true }
            column.reference = .init(parent: first.parent, isRequired: isRequired)
            if let suffix = suffix(of: owners[0].property, store) { column.wireName += suffix }
        } else if owners.contains(where: { $0.property.relationship?.isToMany == false }) {
            // The relationship leads to several entities, or to one that the store does not have.
            column.isUncertain = true
        }
        // Siblings with a property of one name have a column each, and only equal models have the same columns.
        if owners.count > 1 { column.wireName += "@\(digest)" }
        return column
    }

    private func reference(
        of property: CoreDataModel.Property,
        _ store: CoreDataStore
    ) -> CoreDataTable.Reference? {
        guard let relationship = property.relationship, !relationship.isToMany,
            let parent = store.table(ofEntity: relationship.destination)
        else { return nil }
        let back = relationship.inverse.flatMap { inverse in
            store.model?.property(of: relationship.destination) { $0.name == inverse }
        }
        let goesAlong = back?.property.relationship?.deleteRule == .cascade
        return .init(parent: parent, isRequired: !property.isOptional || goesAlong)
    }

    /// Returns the suffix of a reference to a subentity.
    ///
    /// Once the subentity has a table of its own, the reference is another column: its old rows are not in that
    /// table.
    private func suffix(
        of property: CoreDataModel.Property,
        _ store: CoreDataStore
    ) -> String? {
        guard let destination = property.relationship?.destination,
            let root = store.model?.root(of: destination), root != destination
        else { return nil }
        return ">\(root.foldedIdentifier.text)"
    }

    /// Sixteen digits that two families share only if they are equal.
    private var digest: String {
        let text = entities.map { entity in
            let properties = entity.properties.map { property in
                "\(property.name)>\(property.relationship?.destination ?? "")"
            }
            return "\(entity.name)<\(entity.parent ?? "")|\(properties.joined(separator: "|"))"
        }
        let digest = Array(text.joined(separator: "\n").utf8).withUnsafeBytes { Digest(of: $0) }
        return String(digest.description.prefix(16))
    }
}

extension CoreDataTable {
    /// Removes the columns whose values follow from a reference.
    fileprivate mutating func leaveEntities(_ schema: TableSchema) {
        for (place, column) in columns where column.isEntity {
            let name = schema.columns[place].name.foldedIdentifier.text
            guard let numbered = NumberedName(name, prefix: "z"), numbered.name.hasPrefix("_"),
                let reference = schema.column("z\(numbered.name.dropFirst())"),
                columns[reference]?.reference != nil
            else { continue }
            entities[place] = reference
            columns[place] = nil
        }
    }

    /// Gives wire names of their own to columns whose wire name is taken.
    fileprivate mutating func makeNamesUnique(_ schema: TableSchema) {
        var taken: Set<String> = []
        for place in columns.keys.sorted() {
            guard let name = columns[place]?.wireName, !taken.insert(name).inserted else {
                continue
            }
            let own = "\(schema.columns[place].name.foldedIdentifier.text)@"
            taken.insert(own)
            columns[place]?.wireName = own
        }
    }
}

extension String {
    fileprivate var withoutDigits: String {
        var text = self[...]
        while let last = text.last, ("0"..."9").contains(last) { text.removeLast() }
        return String(text)
    }
}
