// The store's side of a model.
extension ModelCache {
    /// The entities in the order of their numbers, from 1 on.
    private var numbered: [Entity] {
        func below(_ name: String) -> [Entity] {
            entities.filter { $0.parent == name }.flatMap { [$0] + below($0.name) }
        }
        return entities.filter { $0.parent == nil }.flatMap { [$0] + below($0.name) }
    }

    /// The number of an entity.
    public func number(_ name: String) -> Int {
        (numbered.firstIndex { $0.name == name } ?? -1) + 1
    }

    private func root(of name: String) -> String {
        entities.first { $0.name == name }?.parent.map { root(of: $0) } ?? name
    }

    /// The statements that make an empty store.
    public var schema: String {
        var statements = [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
        ]
        for root in numbered where root.parent == nil { statements.append(table(of: root)) }
        statements += joins
        statements += rows
        return statements.joined(separator: ";\n")
    }

    /// The statements that say the model and the numbers.
    public var rows: [String] {
        let keys = numbered.enumerated().map { index, entity in
            let parent = entity.parent.map { number($0) } ?? 0
            return "INSERT INTO Z_PRIMARYKEY VALUES (\(index + 1), '\(entity.name)', \(parent), 0)"
        }
        let digits = content.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return keys + ["INSERT INTO Z_MODELCACHE VALUES (x'\(digits)')"]
    }

    private func table(of root: Entity) -> String {
        var columns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
        var names: Set<String> = []
        for entity in numbered where self.root(of: entity.name) == root.name {
            for (name, property) in entity.properties {
                var column = "Z\(name.uppercased())"
                // A sibling's of the same name has a column of its own.
                if !names.insert(column).inserted { column += "1" }
                switch property {
                case .attribute(let type): columns.append("\(column) \(type)")
                case .relationship(let relationship) where !relationship.isToMany:
                    columns.append("\(column) INTEGER")
                    if entities.contains(where: { $0.parent == relationship.destination }) {
                        columns.append(
                            "Z\(number(relationship.destination))_\(name.uppercased()) INTEGER"
                        )
                    }
                case .relationship: break
                }
            }
        }
        return "CREATE TABLE Z\(root.name.uppercased()) (\(columns.joined(separator: ", ")))"
    }

    private var joins: [String] {
        var done: Set<String> = []
        return numbered.flatMap { entity in
            entity.properties.compactMap { name, property -> String? in
                guard case .relationship(let there) = property, there.isToMany,
                    let back = entities.first(where: { $0.name == there.destination })?
                        .properties.first(where: { $0.name == there.inverse }),
                    case .relationship(let here) = back.property, here.isToMany,
                    done.insert([name, there.inverse].sorted().joined(separator: " ")).inserted
                else { return nil }
                let own = "Z_\(number(entity.name))\(there.inverse.uppercased())"
                let other = "Z_\(number(there.destination))\(name.uppercased())"
                let order = "Z_FOK_\(number(entity.name))\(there.inverse.uppercased())"
                return """
                    CREATE TABLE Z_\(number(entity.name))\(name.uppercased())
                    (\(own) INTEGER, \(other) INTEGER, \(order) INTEGER, PRIMARY KEY (\(own), \(other)))
                    """
            }
        }
    }
}
