internal import Archives
internal import Changes
internal import Files
internal import Stores

/// The description of a Core Data store in itself: the numbers of its entities, and its model if it keeps one.
struct CoreDataStore: Equatable, Sendable {
    /// A row of `Z_PRIMARYKEY`.
    struct Entity: Equatable, Sendable {
        var number: Int64
        var name: String
        /// The number of the parent entity; 0 if there is none.
        var parent: Int64
        /// The greatest assigned key; 0 for a subentity.
        var greatestKey: Int64
    }

    let entities: [Entity]
    /// The model; `nil` if the store keeps none that can be read.
    let model: CoreDataModel?

    init(entities: [Entity], model: CoreDataModel?) {
        self.entities = entities
        self.model = model
    }

    /// Reads the entities and the model of a store.
    ///
    /// - Returns: `nil` if the store does not belong to Core Data.
    /// - Throws: `StoreError`.
    init?(_ store: ReadableStore, _ schema: StoreSchema) throws {
        guard schema.isCoreData else { return nil }
        var entities: [Entity] = []
        let names = ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]
        if let table = schema.table("Z_PRIMARYKEY") {
            let columns = names.compactMap(table.column)
            var rows = try store.rows(of: table, columns: columns)
            while columns.count == names.count, try rows.next() {
                guard case .integer(let number) = try rows.value(0),
                    case .text(let name) = try rows.value(1)
                else { continue }
                entities.append(
                    Entity(
                        number: number,
                        name: String(decoding: name.array, as: UTF8.self),
                        parent: try rows.value(2).number,
                        greatestKey: try rows.value(3).number
                    )
                )
            }
        }
        self.entities = entities
        model = try Self.model(in: store, schema)
    }

    private static func model(
        in store: ReadableStore,
        _ schema: StoreSchema
    ) throws -> CoreDataModel? {
        guard let table = schema.table("Z_MODELCACHE"), let column = table.column("Z_CONTENT")
        else { return nil }
        var rows = try store.rows(of: table, columns: [column])
        guard try rows.next(), case .blob(let content) = try rows.value(0),
            content.count <= CoreDataModel.maximumSize
        else { return nil }
        do {
            return try CoreDataModel(cached: content.array) { bytes, limit in
                bytes.withUnsafeBytes { RawDeflate.inflate($0, limit: limit) }
            }
        } catch {
            // The map can replace the model.
            return nil
        }
    }

    // MARK: - Entities

    func entity(_ number: Int64) -> Entity? { entities.first { $0.number == number } }

    /// Returns the entity whose table contains an entity's rows.
    func root(of entity: Entity) -> Entity {
        var root = entity
        for _ in entities {
            guard root.parent != 0, let parent = self.entity(root.parent) else { break }
            root = parent
        }
        return root
    }

    /// Returns the name of the table that contains an entity's rows, in ASCII lower case.
    func table(of entity: Entity) -> String {
        "Z\(root(of: entity).name.uppercased())".foldedIdentifier.text
    }

    /// Returns the name of the table that contains the rows of a named entity.
    func table(ofEntity name: String) -> String? {
        entities.first { $0.name == name }.map(table)
    }
}

/// The numbers that a store gives to its entities; change files contain the names.
struct EntityNumbers: Equatable, Sendable {
    let names: [Int64: String]
    private let numbers: [String: Int64]

    init(_ store: CoreDataStore) {
        names = Dictionary(store.entities.map { ($0.number, $0.name) }) { first, _ in first }
        numbers = Dictionary(store.entities.map { ($0.name, $0.number) }) { first, _ in first }
    }

    /// Returns the name for a number; any other value unchanged.
    func name(_ value: StoredValue) -> StoredValue {
        guard case .integer(let number) = value, let name = names[number] else { return value }
        return .text(StoredBytes(Array(name.utf8)))
    }

    /// Returns the number for a name, or `nil` if the store has no such entity; any other value unchanged.
    func number(_ value: StoredValue) -> StoredValue? {
        guard case .text(let name) = value else { return value }
        return numbers[String(decoding: name.array, as: UTF8.self)].map { .integer($0) }
    }
}

extension StoredValue {
    /// The value as an integer; 0 if it is none.
    fileprivate var number: Int64 { if case .integer(let number) = self { number } else { 0 } }
}
