internal import Changes
internal import TestSupport
internal import Testing

@Suite("Views")
struct ViewTests {
    /// A schema of lists with a UNIQUE name, items with a required parent, notes with an optional one, and
    /// nested folders.
    private static var schema: ViewSchema {
        ViewSchema(
            tables: [
                table("item", ["list_id", "name"], ["list_id": ("list", false)]),
                table("note", ["list_id", "text"], ["list_id": ("list", true)]),
                table("list", ["name"]),
                table("folder", ["parent", "name"], ["parent": ("folder", false)]),
                table("man", ["wife"], ["wife": ("woman", false)]),
                table("woman", ["husband"], ["husband": ("man", false)]),
            ],
            refuses: { table, row in
                table.name == .of("note") && row.values == [.null, .of("never alone")]
                    || row.values.last == .of("bad")
            },
            uniqueKeys: { table, row in
                switch table.name {
                case .of("list"):
                    row.values[0] == .null ? [] : [.init(row.values[0].encoded, identifies: true)]
                case .of("folder"):
                    [.init(row.values[0].encoded + row.values[1].encoded, identifies: true)]
                default: []
                }
            }
        )
    }

    private static func table(
        _ name: String,
        _ columns: [String],
        _ references: [String: (String, Bool)] = [:]
    ) -> ViewSchema.Table {
        ViewSchema.Table(
            .of(name),
            columns: columns.map { ViewSchema.Column(.of($0)) },
            references: references.map {
                ViewSchema.Reference([.of($0)], to: .of($1.0), yields: $1.1)
            }
        )
    }

    /// A builder of states.
    private struct States {
        var rows: [TableName: [RowID: RowState]] = [:]

        mutating func add(
            _ table: String,
            _ id: UInt64,
            _ cells: [String: Value],
            born: UInt64? = nil,
            at clock: UInt64 = 0,
            length: UInt32 = 1
        ) {
            let device = DeviceID(high: 1, low: 1)
            let stamp = clock == 0 ? Stamp.zero : Stamp(clock: clock, device: device)
            let state = RowState(
                causalLength: length,
                birth: Stamp(clock: born ?? id, device: device),
                cells: cells.map { Cell(.of($0), stamp, $1) }
            )
            rows[.of(table), default: [:]][row(id)] = state
        }

        mutating func delete(_ table: String, _ id: UInt64) {
            rows[.of(table), default: [:]][row(id)] = RowState(deletion: .zero)
        }

        func view(_ schema: ViewSchema = ViewTests.schema) -> View {
            View(of: rows, schema: schema)
        }
    }

    @Test("A missing cell is shown with the schema's default")
    func missing() {
        var states = States()
        states.add("t", 1, ["a": .integer(5), "later": .integer(1)])
        states.add("t", 2, [:])
        states.add("gone", 3, [:])
        states.rows[.of("t")]?[row(4)] = RowState(birth: nil, cells: [])
        states.delete("t", 5)
        let columns = [ViewSchema.Column(.of("a"), missing: .integer(7)), .init(.of("b"))]
        let view = states.view(ViewSchema(tables: [.init(.of("t"), columns: columns)]))
        #expect(
            view.shown[.of("t")]?.map(\.values) == [[.integer(5), .null], [.integer(7), .null]]
        )
        #expect(view.held == [key("gone", 3): .noTable, key("t", 4): .unborn])
    }

    @Test("A row whose key is taken is held back, and the older row is shown in its place")
    func standIn() {
        var states = States()
        states.add("list", 1, ["name": .of("shop")], born: 20)
        states.add("list", 2, ["name": .of("shop")], born: 10)
        states.add("list", 3, [:])
        states.add("list", 4, [:])
        states.add("item", 5, ["list_id": .row(row(1))])
        states.add("note", 6, ["list_id": .row(row(1))])
        let view = states.view()
        #expect(view.held == [key("list", 1): .unique(row(2))])
        #expect(view.standIn(for: key("list", 1)) == row(2))
        #expect(view.standIn(for: key("list", 2)) == nil)
        #expect(values(view, "item") == [[.row(row(2)), .null]])
        #expect(values(view, "note") == [[.row(row(2)), .null]])
    }

    @Test("A child without its parent is held back, or shown with NULL if the schema allows it")
    func parents() {
        var states = States()
        states.delete("list", 1)
        states.add("item", 2, ["list_id": .row(row(1))])
        states.add("item", 3, ["list_id": .null])
        states.add("item", 4, ["list_id": .integer(5)])
        states.add("note", 5, ["list_id": .row(row(1)), "text": .of("a")])
        states.add("note", 6, ["list_id": .row(.zero), "text": .of("b")])
        states.add("note", 7, ["list_id": .row(row(1)), "text": .of("never alone")])
        states.add("note", 8, ["text": .row(row(1))])
        let view = states.view()
        #expect(
            view.held == [
                key("item", 2): .parent(.of("list"), row(1)),
                key("note", 7): .refused, key("note", 8): .noReference(.of("text")),
            ]
        )
        // What is no row's id names none, and stays.
        #expect(values(view, "item") == [[.null, .null], [.integer(5), .null]])
        #expect(values(view, "note") == [[.null, .of("a")], [.null, .of("b")]])
    }

    @Test("Rows in a cycle keep each other shown until one of them is deleted")
    func cycles() {
        var states = States()
        states.add("man", 1, ["wife": .row(row(2))])
        states.add("woman", 2, ["husband": .row(row(1))])
        states.add("folder", 3, ["parent": .row(row(3)), "name": .of("a")])
        states.add("folder", 4, ["parent": .row(row(5)), "name": .of("b")])
        states.add("folder", 5, ["parent": .row(row(4)), "name": .of("c")])
        #expect(states.view().held.isEmpty)
        #expect(states.view().shown[.of("folder")]?.count == 3)

        states.delete("woman", 2)
        states.delete("folder", 5)
        #expect(
            states.view().held == [
                key("man", 1): .parent(.of("woman"), row(2)),
                key("folder", 4): .parent(.of("folder"), row(5)),
            ]
        )
    }

    @Test("A long chain of children disappears with its first parent")
    func chain() {
        var states = States()
        states.add("folder", 1, ["name": .of("bad")])
        for id in UInt64(2)...200 {
            states.add("folder", id, ["parent": .row(row(id - 1)), "name": .of("x")])
        }
        let view = states.view()
        #expect(view.held.count == 200)
        #expect(view.held[key("folder", 1)] == .refused)
        #expect(view.held[key("folder", 200)] == .parent(.of("folder"), row(199)))
    }

    @Test("A duplicate row stays hidden behind the first as long as that one is alive")
    func same() {
        var states = States()
        states.add("list", 1, ["name": .of("a"), "#same": .row(row(2))])
        states.add("list", 2, ["name": .of("b"), "#same": .row(row(3))])
        states.add("list", 3, ["name": .of("c")])
        states.add("item", 9, ["list_id": .row(row(1))])
        let view = states.view()
        #expect(view.held == [key("list", 1): .same(row(3)), key("list", 2): .same(row(3))])
        #expect(values(view, "item") == [[.row(row(3)), .null]])
        #expect(values(view, "list") == [[.of("c")]])

        states.delete("list", 3)
        #expect(states.view().held == [key("list", 1): .same(row(2))])
        #expect(values(states.view(), "item") == [[.row(row(2)), .null]])
    }

    @Test("A row behind which others are shows the later of their cells, except for its key")
    func sameMerged() {
        let columns = ["key", "a", "b"].map { ViewSchema.Column(.of($0)) }
        let schema = ViewSchema(tables: [.init(.of("t"), columns: columns, key: [.of("key")])])
        var states = States()
        states.add("t", 1, ["key": .of("1"), "a": .of("late"), "#same": .row(row(2))], at: 9)
        states.add("t", 2, ["key": .of("2"), "b": .of("b2"), "#same": .row(row(3))], at: 8)
        states.add("t", 3, ["key": .of("3"), "a": .of("a3"), "b": .of("b3")], at: 8)
        #expect(values(states.view(schema), "t") == [[.of("3"), .of("late"), .of("b3")]])
    }

    @Test("A cycle of duplicates ends at the oldest row")
    func sameCycle() {
        var states = States()
        states.add("list", 1, ["name": .of("a"), "#same": .row(row(2))], born: 30)
        states.add("list", 2, ["name": .of("b"), "#same": .row(row(3))], born: 10)
        states.add("list", 3, ["name": .of("c"), "#same": .row(row(2))], born: 20)
        states.add("list", 4, ["name": .of("d"), "#same": .row(row(4))])
        states.add("list", 5, ["name": .of("e"), "#same": .row(row(99))])
        let view = states.view()
        #expect(view.held == [key("list", 1): .same(row(2)), key("list", 3): .same(row(2))])
        #expect(values(view, "list") == [[.of("b")], [.of("d")], [.of("e")]])
    }

    @Test("A row hidden behind another follows it behind a third")
    func sameAndUnique() {
        var states = States()
        states.add("list", 1, ["name": .of("a"), "#same": .row(row(2))])
        states.add("list", 2, ["name": .of("b")], born: 30)
        states.add("list", 3, ["name": .of("b")], born: 10)
        states.add("item", 9, ["list_id": .row(row(1))])
        let view = states.view()
        #expect(view.standIn(for: key("list", 1)) == row(3))
        #expect(values(view, "item") == [[.row(row(3)), .null]])
    }

    @Test("Two equal trees become one, up to eight levels deep")
    func trees() {
        for depth in [UInt64(1), 2, 6, 12] {
            var states = States()
            for tree in UInt64(0)...1 {
                for level in 0..<depth {
                    let id = 100 * (tree + 1) + level
                    let parent: Value = level == 0 ? .integer(0) : .row(row(id - 1))
                    states.add("folder", id, ["parent": parent, "name": .of("x")])
                }
            }
            // The roots' parent is a value that the schema accepts for a row.
            let root = ViewSchema(
                tables: Self.schema.tables,
                parent: { _, values in
                    if case .row(let id) = values[0] { id } else { row(1) }
                },
                uniqueKeys: Self.schema.uniqueKeys
            )
            states.add("folder", 1, ["name": .of("root")])
            let view = states.view(root)
            let shown = view.shown[.of("folder")]?.count ?? 0
            if depth <= 6 {
                #expect(shown == Int(depth) + 1, "\(depth)")
                #expect(view.held[key("folder", 200)] == .unique(row(100)))
            } else {
                #expect(view.held.values.contains(.unsettled))
                #expect(shown + view.held.count == 2 * Int(depth) + 1)
            }
        }
    }

    @Test("A reference by key shows the key of the row that replaces its target")
    func keys() {
        let schema = ViewSchema(
            tables: [
                .init(.of("tag"), columns: [.init(.of("code")), .init(.of("name"))]),
                .init(
                    .of("use"),
                    columns: [.init(.of("tag"))],
                    references: [
                        .init([.of("tag")], to: .of("tag"), targets: [.of("code")], yields: false)
                    ]
                ),
            ],
            parent: { _, values in
                RowID(key: [(.of("code"), values[0])], in: .of("tag"))
            },
            uniqueKeys: { table, row in
                table.name == .of("tag") ? [.init(row.values[1].encoded, identifies: true)] : []
            }
        )
        var states = States()
        for (code, born) in [("old", UInt64(1)), ("new", 2)] {
            let id = RowID(key: [(.of("code"), .of(code))], in: .of("tag"))
            let cells = [
                Cell(.of("code"), .zero, .of(code)), Cell(.of("name"), .zero, .of("same")),
            ]
            let stamp = Stamp(clock: born, device: DeviceID(high: 1, low: 1))
            states.rows[.of("tag"), default: [:]][id] = RowState(birth: stamp, cells: cells)
        }
        states.add("use", 5, ["tag": .of("new")])
        states.add("use", 6, ["tag": .of("none")])
        let view = states.view(schema)
        #expect(values(view, "use") == [[.of("old")]])
        #expect(view.held[key("use", 6)] != nil)
    }

    @Test("In random states, each live row is shown or held back, and no reference dangles")
    func random() {
        for seed in Fuzzing(usual: 1000) {
            var random = Pseudorandom(seed: seed)
            var states = States()
            for id in UInt64(1)...UInt64(2 + random.below(30)) {
                let parent: Value =
                    random.below(4) == 0 ? .null : .row(row(UInt64(random.below(30))))
                let name = Value.of(random.pick(["a", "b", "c", "bad"]))
                let table = random.pick(["item", "note", "list", "folder", "man", "woman"])
                var cells = ["list_id": parent, "parent": parent, "wife": parent, "name": name]
                cells["husband"] = parent
                if random.below(5) == 0 { cells["#same"] = .row(row(UInt64(random.below(30)))) }
                states.add(table, id, cells, born: UInt64(random.below(5)))
                if random.below(5) == 0 { states.delete(table, id) }
            }
            let view = states.view()
            let again = states.view()
            #expect(view.shown == again.shown && view.held == again.held, "seed \(seed)")
            check(view, of: states, seed)
        }
    }

    private func check(_ view: View, of states: States, _ seed: UInt64) {
        for (name, rows) in states.rows {
            let shown = Set((view.shown[name] ?? []).map(\.id))
            for (id, state) in rows {
                let places =
                    (shown.contains(id) ? 1 : 0)
                    + (view.held[ViewKey(name, id)] == nil ? 0 : 1)
                #expect(places == (state.isAlive ? 1 : 0), "seed \(seed)")
                switch view.held[ViewKey(name, id)] {
                case .unique(let other): #expect(shown.contains(other), "seed \(seed)")
                case .parent(let table, let other?):
                    // A row is never held back because another replaces it.
                    #expect(view.standIn(for: ViewKey(table, other)) == nil, "seed \(seed)")
                default: break
                }
            }
        }
        for table in Self.schema.tables {
            let rows = view.shown[table.name] ?? []
            let keys = rows.flatMap { Self.schema.uniqueKeys(table, $0).map(\.bytes) }
            #expect(Set(keys).count == keys.count, "seed \(seed)")
            for row in rows {
                #expect(!Self.schema.refuses(table, row), "seed \(seed)")
                for (column, value) in zip(table.columns, row.values) {
                    guard case .row(let id) = value else { continue }
                    let reference = table.references.first { $0.columns == [column.name] }
                    let parents = reference.flatMap { view.shown[$0.table] } ?? []
                    #expect(parents.contains { $0.id == id }, "seed \(seed)")
                }
            }
        }
    }

    private func values(_ view: View, _ table: String) -> [[Value]]? {
        view.shown[.of(table)]?.map(\.values)
    }

    private func key(_ table: String, _ id: UInt64) -> ViewKey {
        ViewKey(.of(table), row(id))
    }
}

private func row(_ id: UInt64) -> RowID {
    RowID(high: 0, low: id)
}
