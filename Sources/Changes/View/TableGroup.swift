/// Tables that refer to each other, directly or through others; mostly a single one.
package struct TableGroup {
    package let tables: [ViewSchema.Table]
    /// Whether a table of the group refers to a table of the group.
    package let isCyclic: Bool

    /// Returns all tables in groups, parents before children.
    package static func parentsFirst(_ tables: [ViewSchema.Table]) -> [TableGroup] {
        let tables = tables.sorted { $0.name < $1.name }
        let places = Dictionary(zip(tables.map(\.name), tables.indices)) { first, _ in first }
        let parents = tables.map { $0.references.compactMap { places[$0.table] } }
        return ReferenceGroup.parentsFirst(parents).map { group in
            TableGroup(tables: group.places.map { tables[$0] }, isCyclic: group.isCyclic)
        }
    }
}

/// Places that refer to each other, directly or through others; mostly a single one.
package struct ReferenceGroup {
    /// The places, rising.
    package let places: [Int]
    /// Whether a place of the group refers to a place of the group.
    package let isCyclic: Bool

    /// Puts all places into groups, parents before children (Tarjan 1972).
    ///
    /// - Parameter parents: for each place, the places that it refers to.
    /// - Returns: the groups.
    package static func parentsFirst(_ parents: [[Int]]) -> [ReferenceGroup] {
        var search = Search(parents)
        for place in parents.indices { search.visit(place) }
        return search.groups
    }

    private struct Search {
        private let parents: [[Int]]
        private(set) var groups: [ReferenceGroup] = []
        private var order: [Int?]
        private var low: [Int]
        private var stack: [Int] = []
        private var isOnStack: [Bool]
        private var count = 0

        init(_ parents: [[Int]]) {
            self.parents = parents
            order = Array(repeating: nil, count: parents.count)
            low = Array(repeating: 0, count: parents.count)
            isOnStack = Array(repeating: false, count: parents.count)
        }

        /// Walks from a place without recursion, since a chain may be as long as the number of tables.
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
            var places: [Int] = []
            repeat {
                let last = stack.removeLast()
                isOnStack[last] = false
                places.append(last)
            } while places.last != place
            let isCyclic = places.count > 1 || parents[place].contains(place)
            groups.append(ReferenceGroup(places: places.sorted(), isCyclic: isCyclic))
        }
    }
}
