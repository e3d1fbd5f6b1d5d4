import Files
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

private let isThere =
    (try? FileInfo(of: Fixtures.corpora.appending("sqlite-apps"))) != nil

/// The stores of public projects, beside the checkout.
@Suite(
    "Schemas of real stores",
    .enabled(if: isThere, "the test data is not there")
)
struct RealSchemaTests {
    /// Reads what of a copied store syncs.
    private func schema(of path: RelativePath) throws -> SyncSchema {
        let stores = try SchemaSandbox()
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let source = FilePath("\(path.below(Fixtures.corpora))\(suffix)")
            guard try FileInfo.ifPresent(source) != nil else { continue }
            let target = stores.directory.appending("a.sqlite\(suffix)")
            _ = try File.open(source).copy(to: target, syncing: false)
        }
        return try SyncSchema(of: stores.snapshot(), rules: SchemaRules())
    }

    private func stores(in directory: String) throws -> [RelativePath] {
        var found: [RelativePath] = []
        try Directory.open(Fixtures.corpora.appending(directory)).walk(failed: { throw $1 }) {
            if $0.info.kind == .file {
                let file = try $0.directory.file($0.name)
                let count = Int(min(16, $0.info.size))
                if DatabaseHeader.begins(try file.readExactly(count: count, at: 0)) {
                    found.append(try RelativePath("\(directory)/\($0.path)"))
                }
            }
            return .descend
        }
        return found
    }

    @Test("sync, or are refused with a reason and a way out")
    func applications() throws {
        var refusals: [String: [SyncRefusal]] = [:]
        for path in try stores(in: "sqlite-apps") {
            guard let schema = try? schema(of: path) else { continue }
            refusals[path.name.description] = schema.refusals
            #expect(schema.refusals.allSatisfy { $0.hint != nil })
        }
        #expect(refusals.count > 10)
        // It refers by numbers, and says so nowhere.
        let music = refusals["music.sqlite"] ?? []
        #expect(
            music.contains(
                .undeclaredReference(table: "albums", column: "artist", parent: "artists")
            )
        )
        let anki = refusals["schema16.anki2"] ?? []
        #expect(anki.contains(.collation(table: "tags", column: "tag", collation: "unicase")))
        let cards = refusals["initial_version_2_12_1.anki2"] ?? []
        #expect(cards.contains(.undeclaredReference(table: "cards", column: "nid", parent: nil)))
        let features = refusals["base.gpkg"] ?? []
        let trigger = "rtree_simple_geometry_insert"
        #expect(
            features.contains(.strangeTrigger(trigger, needs: "the function 'ST_IsEmpty'"))
        )
    }
}
