internal import Stores

extension SyncTable {
    /// Sorts tables so that each stands behind those that it refers to, and numbers the cycles, whose
    /// tables stand together in the order of their names.
    static func parentsFirst(_ tables: [SyncTable]) -> [SyncTable] {
        let tables = tables.sorted { $0.name.foldedIdentifier < $1.name.foldedIdentifier }
        var walk = CycleWalk(tables)
        for place in tables.indices { walk.visit(place) }
        var sorted: [SyncTable] = []
        var cycles = 0
        for group in walk.groups {
            let refersToItself = group.count > 1 || walk.parents[group[0]].contains(group[0])
            for place in group.sorted() {
                var table = tables[place]
                table.cycle = refersToItself ? cycles : nil
                sorted.append(table)
            }
            if refersToItself { cycles += 1 }
        }
        return sorted
    }
}

/// Finds groups of tables that refer to each other, parents first (Tarjan 1972).
private struct CycleWalk {
    /// The places of the tables that each refers to.
    let parents: [[Int]]
    private(set) var groups: [[Int]] = []
    private var order: [Int?]
    private var low: [Int]
    private var stack: [Int] = []
    private var isOnStack: [Bool]
    private var count = 0

    init(_ tables: [SyncTable]) {
        let places = Dictionary(
            tables.indices.map { (tables[$0].name.foldedIdentifier, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        parents = tables.map { Set($0.references.compactMap { places[$0.parent] }).sorted() }
        order = Array(repeating: nil, count: tables.count)
        low = Array(repeating: 0, count: tables.count)
        isOnStack = Array(repeating: false, count: tables.count)
    }

    /// Walks from a table, without calls in calls: a chain may be as long as there are tables.
    mutating func visit(_ start: Int) {
        guard order[start] == nil else { return }
        var path: [(place: Int, next: Int)] = []
        enter(start, &path)
        while let (place, next) = path.last {
            if next < parents[place].count {
                path[path.count - 1].next += 1
                let parent = parents[place][next]
                if let seen = order[parent] {
                    if isOnStack[parent] { low[place] = min(low[place], seen) }
                } else {
                    enter(parent, &path)
                }
                continue
            }
            path.removeLast()
            if let (child, _) = path.last { low[child] = min(low[child], low[place]) }
            if low[place] == order[place] { close(place) }
        }
    }

    private mutating func enter(_ place: Int, _ path: inout [(place: Int, next: Int)]) {
        order[place] = count
        low[place] = count
        count += 1
        stack.append(place)
        isOnStack[place] = true
        path.append((place, 0))
    }

    private mutating func close(_ place: Int) {
        var group: [Int] = []
        repeat {
            let last = stack.removeLast()
            isOnStack[last] = false
            group.append(last)
        } while group.last != place
        groups.append(group)
    }
}
