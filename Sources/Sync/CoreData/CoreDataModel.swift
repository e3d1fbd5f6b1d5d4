internal import Changes

/// A model of Core Data: its entities, and their references to each other.
struct CoreDataModel: Equatable, Sendable {
    /// The rules for the objects that a deleted object refers to.
    enum DeleteRule: Int64, Sendable {
        case noAction = 0
        case nullify, cascade, deny
    }

    struct Relationship: Equatable, Sendable {
        var destination: String
        /// The inverse relationship; `nil` if there is none.
        var inverse: String?
        var isToMany: Bool
        var deleteRule: DeleteRule
    }

    struct Property: Equatable, Sendable {
        var name: String
        var isOptional: Bool
        /// The relationship; `nil` for an attribute.
        var relationship: Relationship?
    }

    struct Entity: Equatable, Sendable {
        var name: String
        /// The parent entity; `nil` if there is none.
        var parent: String?
        /// The stored properties, perhaps including those of its parents.
        var properties: [Property]
    }

    /// The greatest length of an inflated model, in bytes.
    static let maximumSize = PropertyList.maximumSize

    /// The entities, by their names.
    private(set) var entities: [String: Entity] = [:]

    /// Reads the model that a store keeps.
    ///
    /// - Parameters:
    ///   - content: the content of its cache: a keyed archive, deflated.
    ///   - inflate: a function that inflates bytes up to a limit; `nil` if it cannot.
    /// - Throws: `FormatBreach`.
    init(
        cached content: [UInt8],
        inflate: ([UInt8], Int) -> [UInt8]?
    ) throws(FormatBreach) {
        let isPlain = content.starts(with: Array("bplist0".utf8))
        guard let bytes = isPlain ? content : inflate(content, Self.maximumSize) else {
            throw FormatBreach("it does not inflate")
        }
        let archive = try KeyedArchive(PropertyList(bytes))
        for object in archive.objects where archive.className(of: object) == "NSEntityDescription" {
            guard let entity = Entity(object, archive) else {
                throw FormatBreach("an entity has no name")
            }
            entities[entity.name] = entity
        }
        guard !entities.isEmpty else { throw FormatBreach("it has no entity") }
    }

    init(_ entities: [Entity]) {
        self.entities = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    }

    // MARK: - Questions

    /// Returns an entity and its ancestors, itself first.
    func line(of name: String) -> [Entity] {
        var line: [Entity] = []
        var next = entities[name]
        while let entity = next, !line.contains(where: { $0.name == entity.name }) {
            line.append(entity)
            next = entity.parent.flatMap { entities[$0] }
        }
        return line
    }

    /// Returns the entity whose table contains an entity's rows.
    func root(of name: String) -> String { line(of: name).last?.name ?? name }

    /// Returns an entity and its descendants, in the order of their names.
    func family(of root: String) -> [Entity] {
        entities.values.filter { self.root(of: $0.name) == root }.sorted { $0.name < $1.name }
    }

    /// Returns a property of an entity or its ancestors, with the highest of these that has it.
    func property(
        of entity: String,
        where matches: (Property) -> Bool
    ) -> (owner: String, property: Property)? {
        for entity in line(of: entity).reversed() {
            if let property = entity.properties.first(where: matches) {
                return (entity.name, property)
            }
        }
        return nil
    }
}

extension CoreDataModel.Entity {
    /// Reads an `NSEntityDescription`.
    fileprivate init?(_ object: Int, _ archive: KeyedArchive) {
        guard let name = archive.text("NSEntityName", of: object), !name.isEmpty else { return nil }
        self.name = name
        parent = archive.object("NSSuperentity", of: object)
            .flatMap { archive.text("NSEntityName", of: $0) }
        properties =
            archive.object("NSProperties", of: object)
            .map { archive.elements(of: $0).compactMap { .init($0, archive) } } ?? []
        properties.sort { $0.name < $1.name }
    }
}

extension CoreDataModel.Property {
    /// Reads an `NSPropertyDescription`; `nil` if it is not stored, or is a substitute for another entity's.
    fileprivate init?(_ object: Int, _ archive: KeyedArchive) {
        guard let name = archive.text("NSPropertyName", of: object),
            let kind = archive.className(of: object),
            archive.integer("NSIsTransient", of: object) ?? 0 == 0
        else { return nil }
        self.name = name
        isOptional = archive.integer("NSIsOptional", of: object) ?? 0 != 0
        if kind == "NSRelationshipDescription" {
            let named = archive.object("NSDestinationEntity", of: object)
                .flatMap { archive.text("NSEntityName", of: $0) }
            guard
                let destination = archive.text("_NSDestinationEntityName", of: object) ?? named
            else { return nil }
            let back = archive.object("NSInverseRelationship", of: object)
                .flatMap { archive.text("NSPropertyName", of: $0) }
            relationship = .init(
                destination: destination,
                inverse: archive.text("_NSInverseRelationshipName", of: object) ?? back,
                isToMany: archive.integer("NSMaxCount", of: object) ?? 0 != 1,
                deleteRule: archive.integer("NSDeleteRule", of: object)
                    .flatMap(CoreDataModel.DeleteRule.init) ?? .nullify
            )
        } else {
            // Fetched properties and expressions have no columns.
            guard kind.hasSuffix("AttributeDescription") else { return nil }
        }
    }
}
