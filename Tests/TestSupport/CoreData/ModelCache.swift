/// A small model of Core Data, and the store that an application with it would have, for tests.
///
/// Tables and columns are named as Core Data names them, by the entities' numbers: those of the roots come
/// in the order of the entities, and each root's subentities after it.
public struct ModelCache: Sendable {
    public struct Relationship: Sendable {
        public var destination: String
        public var inverse: String
        public var isToMany: Bool
        /// Of the relationship's owner: 1 nullify, 2 cascade.
        public var deleteRule: Int
        public var isOptional: Bool

        public init(
            _ destination: String,
            _ inverse: String,
            isToMany: Bool = false,
            deleteRule: Int = 1,
            isOptional: Bool = true
        ) {
            self.destination = destination
            self.inverse = inverse
            self.isToMany = isToMany
            self.deleteRule = deleteRule
            self.isOptional = isOptional
        }
    }

    public enum Property: Sendable {
        /// Its type in SQL.
        case attribute(String)
        case relationship(Relationship)
    }

    public struct Entity: Sendable {
        public var name: String
        public var parent: String?
        public var properties: [(name: String, property: Property)]

        public init(
            _ name: String,
            below parent: String? = nil,
            _ properties: KeyValuePairs<String, Property>
        ) {
            self.name = name
            self.parent = parent
            self.properties = properties.map { ($0.key, $0.value) }
        }
    }

    public var entities: [Entity]

    public init(_ entities: [Entity]) {
        self.entities = entities
    }

    // MARK: - Archive

    /// The content of `Z_MODELCACHE`: a keyed archive in one stream of stored blocks.
    public var content: [UInt8] {
        var blocks: [UInt8] = []
        var rest = archive[...]
        while true {
            let part = rest.prefix(65_535)
            rest = rest.dropFirst(part.count)
            let (low, high) = (UInt8(part.count & 0xFF), UInt8(part.count >> 8))
            blocks += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high] + part
            if rest.isEmpty { return blocks }
        }
    }

    /// The archive, with places that refer to each other in both directions as the real ones do.
    public var archive: [UInt8] {
        typealias Value = PropertyListWriter.Value
        let classes = [
            "NSManagedObjectModel", "NSEntityDescription", "NSAttributeDescription",
            "NSRelationshipDescription", "NSMutableDictionary",
        ]
        var objects: [Value] = [.text("$null"), .boolean(false)]
        objects += classes.map { .dictionary([("$classname", .text($0))]) }
        func kind(_ name: String) -> (String, Value) {
            ("$class", .uid(2 + (classes.firstIndex(of: name) ?? 0)))
        }
        let first = objects.count
        var places: [String: Int] = [:]
        for (number, entity) in entities.enumerated() { places[entity.name] = first + number }
        objects += entities.map { _ in .boolean(false) }
        for (number, entity) in entities.enumerated() {
            var held: [Value] = []
            for (name, property) in entity.properties {
                held.append(.uid(objects.count))
                var pairs: [(String, Value)] = [
                    ("NSPropertyName", .text(name)), ("NSEntity", .uid(first + number)),
                    ("NSIsOptional", .boolean(true)),
                ]
                switch property {
                case .attribute: pairs.append(kind("NSAttributeDescription"))
                case .relationship(let relationship):
                    pairs[2] = ("NSIsOptional", .boolean(relationship.isOptional))
                    pairs += [
                        kind("NSRelationshipDescription"),
                        ("_NSDestinationEntityName", .text(relationship.destination)),
                        ("NSDestinationEntity", .uid(places[relationship.destination] ?? 0)),
                        ("_NSInverseRelationshipName", .text(relationship.inverse)),
                        ("NSMaxCount", .integer(relationship.isToMany ? 0 : 1)),
                        ("NSDeleteRule", .integer(relationship.deleteRule)),
                    ]
                }
                objects.append(.dictionary(pairs))
            }
            objects[first + number] = .dictionary([
                kind("NSEntityDescription"), ("NSEntityName", .text(entity.name)),
                ("NSSuperentity", .uid(entity.parent.flatMap { places[$0] } ?? 0)),
                ("NSProperties", .uid(objects.count)),
            ])
            objects.append(
                .dictionary([kind("NSMutableDictionary"), ("NS.objects", .array(held))])
            )
        }
        objects[1] = .dictionary([kind("NSManagedObjectModel")])
        return PropertyListWriter.archive(objects)
    }
}
