import Changes
import Stores
import TestSupport
import Testing

@testable import Sync

/// The reader of models against caches that nobody vouches for.
@Suite("Fuzzed models")
struct PropertyListFuzzTests {
    @Test("are refused, or read within the room that they have")
    func mutated() throws {
        var verdicts: [String: Int] = [:]
        let fuzzing = Fuzzing(usual: 3000)
        let archive = NoteBook.second.archive
        for seed in fuzzing {
            var random = Pseudorandom(seed: seed)
            var bytes = archive
            for _ in 0...random.below(4) {
                // The trailer and the table of objects are small, and all depends on them.
                let trailer = max(0, bytes.count - 32 - random.below(1200))
                _ = random.damage(
                    &bytes,
                    within: random.below(2) == 0 ? nil : trailer..<bytes.count
                )
                if bytes.isEmpty { bytes = archive }
            }
            verdicts[verdict(of: bytes, "seed \(seed)"), default: 0] += 1
        }
        fuzzing.report("Models", verdicts)
        if fuzzing.count > 100 {
            #expect(verdicts["read", default: 0] > 0 && verdicts["refused", default: 0] > 0)
        }
    }

    /// Reads a model, and asks it all that is asked of one.
    private func verdict(of bytes: [UInt8], _ comment: Comment) -> String {
        guard let list = try? PropertyList(bytes) else { return "refused" }
        let room = list.objects.reduce(0) { $0 + $1.room }
        #expect(room <= bytes.count * 8, comment)
        guard let model = try? CoreDataModel(cached: bytes, inflate: { _, _ in nil }) else {
            return "refused"
        }
        for entity in model.entities.values {
            let root = model.root(of: entity.name)
            #expect(model.line(of: entity.name).count <= model.entities.count, comment)
            _ = model.family(of: root)
            for property in entity.properties {
                #expect(
                    model.property(of: entity.name) { $0.name == property.name } != nil,
                    comment
                )
            }
        }
        return "read"
    }

    @Test("whose objects name each other in circles end")
    func circles() throws {
        typealias Value = PropertyListWriter.Value
        func entity(_ name: String, above: Int) -> Value {
            .dictionary([
                ("$class", .uid(2)), ("NSEntityName", .text(name)), ("NSSuperentity", .uid(above)),
                ("NSProperties", .uid(above)), ("values", .uid(above)),
            ])
        }
        let bytes = PropertyListWriter.archive([
            .text("$null"), .boolean(false),
            .dictionary([("$classname", .text("NSEntityDescription"))]), entity("A", above: 4),
            entity("B", above: 3), entity("C", above: 5),
        ])
        let model = try CoreDataModel(cached: bytes) { _, _ in nil }
        #expect(model.line(of: "A").map(\.name) == ["A", "B"])
        #expect(model.line(of: "C").map(\.name) == ["C"])
    }

    @Test("that name one long object often are refused, and so are those that inflate too far")
    func bombs() throws {
        var bytes = PropertyListWriter.write(.array((0..<2000).map { .integer($0) }))
        // Each object is at the place of the first one, which has 2,000 elements.
        let table = bytes.count - 32 - 2001 * 4
        for number in 0..<2001 {
            bytes.replaceSubrange(table + number * 4..<table + number * 4 + 4, with: [0, 0, 0, 8])
        }
        #expect(throws: FormatBreach("its objects hold more than it has")) {
            try PropertyList(bytes)
        }
        #expect(throws: FormatBreach("it does not inflate")) {
            try CoreDataModel(cached: NoteBook.first.content) { _, limit in
                #expect(limit == 16 << 20)
                return nil
            }
        }
        var deep = PropertyListWriter.Value.integer(1)
        for _ in 0..<2000 { deep = .array([deep]) }
        #expect(try PropertyList(PropertyListWriter.write(deep)).objects.count == 2001)
    }
}

extension PropertyList.Object {
    /// Elements, or bytes.
    fileprivate var room: Int {
        switch self {
        case .array(let places): places.count
        case .dictionary(let keys, let values): keys.count + values.count
        case .text(let text): text.utf8.count
        case .data(let bytes): bytes.count
        default: 0
        }
    }
}
