import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("The header of a manifest")
struct HeaderTests {
    @Test(
        "A manifest has one header with the backup's identity, whether it is written early or late",
        arguments: [1, 1 << 20]
    )
    func one(waiting limit: Int) async throws {
        let scene = try Scene()
        for name in ["a", "b", "c"] {
            try StoreApplication(
                on: scene.stores.appending("\(name).sqlite"),
                "CREATE TABLE \(name) (x); INSERT INTO \(name) VALUES (1), (2)"
            ).end()
        }
        try scene.sandbox.write("x", to: "Stores/left.tmp")
        var options = scene.options()
        options.headerWaits = limit
        options.tags = ["kept"]
        options.exclusions = Exclusions(patterns: [try PathPattern("*.tmp")], excludesCaches: false)
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
        let opened = try await scene.context().open(outcome.backup, in: scene.folder())
        #expect(outcome.backup.id == opened.id)
        let header = try #require(opened.header)
        #expect(
            header.stores.map(\.path) == [
                GroceryStore.fileName, "a.sqlite", "b.sqlite", "c.sqlite",
            ]
        )
        #expect(header.stores.dropFirst().map(\.tables.first?.rows) == [2, 2, 2])
        #expect(header.excluded?.count == 1)
        // Who knows the archive alone finds what was written of it.
        try LocalFileSystem().remove(scene.sandbox.path("Cache"))
        let found = try #require(try await scene.list().first)
        #expect(found.tags == ["kept"])
    }
}
