internal import Changes
internal import TestSupport
internal import Testing

@Suite("Joins")
struct JoinTests {
    private static let columns = ["a", "b", "c", "#same"].map(ColumnName.of)

    @Test("A join is commutative, associative and idempotent")
    func semilattice() {
        for seed in Fuzzing(usual: 5000) {
            var random = Pseudorandom(seed: seed)
            let id = random.rowID()
            let (a, b, c) = (delta(id, &random), delta(id, &random), delta(id, &random))
            let isOne =
                a.joined(with: b) == b.joined(with: a)
                && a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c))
                && a.joined(with: a) == a && a.joined(with: b).joined(with: b) == a.joined(with: b)
                && a.state.joined(with: .unknown) == a.state
            #expect(isOne, "seed \(seed)")
        }
    }

    @Test("A join gives the same result in any order and grouping")
    func anyOrder() {
        for seed in Fuzzing(usual: 500) {
            var random = Pseudorandom(seed: seed)
            let id = random.rowID()
            let deltas = (0..<8).map { _ in delta(id, &random) }
            let whole = deltas.dropFirst().reduce(deltas[0]) { $0.joined(with: $1) }
            let shuffled = (deltas + deltas.prefix(3)).shuffled(using: &random)
            let half = shuffled.count / 2
            let left = shuffled[1..<half].reduce(shuffled[0]) { $0.joined(with: $1) }
            let right = shuffled[half...].dropFirst()
                .reduce(shuffled[half]) { $0.joined(with: $1) }
            #expect(right.joined(with: left) == whole, "seed \(seed)")
        }
    }

    @Test("A delete wins against an edit, and a later insert against the delete")
    func lengths() throws {
        let edit = RowState(birth: nil, cells: [Cell(.of("a"), stamp(9), .integer(1))])
        let alive = RowState(birth: stamp(1), cells: [Cell(.of("a"), stamp(1), .integer(0))])
        let deleted = try #require(alive.deleted(at: stamp(2)))
        #expect(edit.joined(with: deleted) == deleted)
        let again = try #require(deleted.inserted(at: stamp(3), cells: []))
        #expect(again.causalLength == 3)
        #expect(deleted.joined(with: again) == again)
        #expect(again.joined(with: edit) == again)
        #expect(alive.inserted(at: stamp(3), cells: []) == nil)
        #expect(deleted.deleted(at: stamp(3)) == nil)
    }

    @Test("A row that reached the limit of deletions is not deleted again")
    func lastLength() {
        let last = RowState(causalLength: .max, birth: .zero, cells: [])
        #expect(last.deleted(at: stamp(1)) == nil)
    }

    @Test("The later edit of a cell wins, and edits of two cells both remain")
    func cells() throws {
        let left = RowState(
            birth: stamp(1),
            cells: [
                Cell(.of("a"), stamp(5), .integer(1)), Cell(.of("b"), stamp(2), .integer(1)),
            ]
        )
        let right = RowState(
            birth: stamp(1, 2),
            cells: [
                Cell(.of("a"), stamp(4), .integer(2)), Cell(.of("b"), stamp(3), .integer(2)),
                Cell(.of("c"), stamp(1), .integer(2)),
            ]
        )
        let both = left.joined(with: right)
        #expect(both.cells.map(\.value) == [.integer(1), .integer(2), .integer(2)])
        #expect(both.birth == stamp(1))
        #expect(both.cell(.of("b"))?.stamp == stamp(3))
        #expect(both.cell(.of("d")) == nil)
    }

    @Test("Edits at the same time are decided by the greater device, then by the greater bytes")
    func ties() {
        #expect(cell(stamp(5, 1), .of("z")).loses(to: cell(stamp(5, 2), .of("a"))))
        // Bytes are compared, not numbers: zigzag of -1 is 1, of 1 is 2.
        let order: [Value] = [
            .null, .integer(0), .integer(-1), .integer(1), .real(-0.0), .of("b"), .of("aa"),
            .blob([1]), .row(.zero),
        ]
        for (less, more) in zip(order, order.dropFirst()) where less.encoded[0] != 2 {
            #expect(cell(stamp(5), less).loses(to: cell(stamp(5), more)), "\(less) \(more)")
            #expect(!cell(stamp(5), more).loses(to: cell(stamp(5), less)))
        }
        #expect(!cell(stamp(5), .null).loses(to: cell(stamp(5), .null)))
    }

    @Test("Values are compared by their bytes: 1 is not 1.0, and 0.0 is not -0.0")
    func values() {
        #expect(Value.integer(1) != .real(1))
        #expect(Value.real(0) != .real(-0.0))
        #expect(Value.of("a") != .blob(Array("a".utf8)))
        for seed in Fuzzing(usual: 2000) {
            var random = Pseudorandom(seed: seed)
            let (a, b) = (random.value(), random.value())
            #expect((a == b) == (a.encoded == b.encoded), "seed \(seed)")
            #expect(
                a.precedes(b) == a.encoded.lexicographicallyPrecedes(b.encoded),
                "seed \(seed)"
            )
        }
    }

    private func delta(_ id: RowID, _ random: inout Pseudorandom) -> RowDelta {
        let hint: Value? = random.below(2) == 0 ? .integer(Int64(random.below(3))) : nil
        return RowDelta(id, random.state(of: Self.columns), hint: hint)
    }

    private func stamp(_ clock: UInt64, _ device: UInt64 = 1) -> Stamp {
        Stamp(clock: clock, device: DeviceID(high: 0, low: device))
    }

    private func cell(_ stamp: Stamp, _ value: Value) -> Cell {
        Cell(.of("a"), stamp, value)
    }
}
