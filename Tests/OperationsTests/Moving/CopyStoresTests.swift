import Backups
import Files
import Foundation
import Operations
import Sample
import SystemPackage
import TestSupport
import Testing

@Suite("Copying the stores of a former place")
struct CopyStoresTests {
    let scene: Scene
    let target: FilePath

    /// An old place with a store of twelve items, "Stores", and nothing at the new one.
    init() throws {
        scene = try Scene()
        target = scene.sandbox.path("Cache/New/Stores")
    }

    private func copy(
        _ places: String...,
        to target: FilePath? = nil
    ) async throws
        -> CopyStores.Outcome
    {
        try await CopyStores(
            from: places.map(scene.sandbox.path),
            at: Scene.morning,
            tool: "grocerydude test",
            context: scene.context()
        ).run(to: target ?? self.target)
    }

    @Test("Copying takes the first former place with stores, whole, and changes nothing there")
    func first() async throws {
        try scene.sandbox.write("no store", to: "Cache/Older/notes.txt")
        try scene.sandbox.write("a note", to: "Stores/.hidden/note")
        let other = try GroceryStore.create(
            in: scene.sandbox.path("Cache/Other"),
            withTestData: false
        )
        _ = try other.remove(name: "Apples")
        // An application has it open, and what it wrote is in the log only.
        let path = scene.stores.appending(GroceryStore.fileName)
        let application = try StoreApplication(
            on: path,
            "UPDATE item SET quantity = 77 WHERE name = 'Milk'"
        )
        let before = try scene.sandbox.contents(of: "Stores")
        let outcome = try await copy("Nowhere", "Cache/Older", "Stores", "Cache/Other")
        #expect(try scene.sandbox.contents(of: "Stores") == before)
        try application.end()
        #expect(outcome.source == scene.stores)
        #expect(outcome.stores == 1 && outcome.files == 2 && outcome.problems == [])
        let items = try GroceryStore(in: target).items()
        #expect(items.count == 12 && items.first { $0.name == "Milk" }?.quantity == 77)
        #expect(try scene.sandbox.read("Cache/New/Stores/.hidden/note") == Array("a note".utf8))
        #expect(try Directory.open(target.removingLastComponent()).names() == ["Stores"])
        #expect(
            scene.all == [
                "'\(scene.sandbox.path("Nowhere"))' is not there",
                "no store is in '\(scene.sandbox.path("Cache/Older"))'",
            ]
        )
    }

    @Test("Copying takes external data along, and reports what is missing of it")
    func externalData() async throws {
        // One of its three files is not there.
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Cache/Old")
        let outcome = try await copy("Cache/Old")
        #expect(outcome.problems.map(\.kind) == [.missingExternalData])
        #expect(scene.all == outcome.problems.map(\.description))
        #expect(
            try scene.sandbox.contents(of: "Cache/New/Stores").paths.filter {
                $0.contains("EXTERNAL_DATA/")
            }.count == 2
        )
    }

    @Test("Copying is refused if no former place has a readable store, and makes nothing")
    func none() async throws {
        try scene.sandbox.write("no store", to: "Cache/Older/notes.txt")
        let places = ["Nowhere", "Cache/Older"].map(scene.sandbox.path)
        await #expect(throws: CopyStoresError.noStore(places)) {
            try await copy("Nowhere", "Cache/Older")
        }
        await #expect(throws: FileError.notA(.directory, places[1].appending("notes.txt"))) {
            try await copy("Cache/Older/notes.txt", "Stores")
        }
        #expect(!scene.sandbox.exists("Cache/New"))
    }

    @Test(
        "Copying does not replace an unreadable former place by an older one",
        .enabled(if: geteuid() != 0)
    )
    func unreadable() async throws {
        let path = try scene.sandbox.directory("Cache/Old/closed")
        try Directory.open(path).setAttributes(mode: 0, modified: 0)
        await #expect(throws: FileError.failed(.open, path, .permissionDenied)) {
            try await copy("Cache/Old", "Stores")
        }
        #expect(!scene.sandbox.exists("Cache/New"))
    }

    @Test("Copying a damaged store is refused, and leaves nothing")
    func damaged() async throws {
        try Fixtures.copy("stores/damaged", into: scene.sandbox, as: "Cache/Old")
        await #expect {
            try await copy("Cache/Old", "Stores")
        } throws: {
            FailureOutcome(of: $0) == .damaged && !explain($0).contains("restore failed")
        }
        #expect(try Directory.open(target.removingLastComponent()).names() == [])
    }

    @Test("Copying into a full directory, or into the former place itself, is refused")
    func occupied() async throws {
        try scene.sandbox.write("mine", to: "Cache/New/Stores/mine")
        await #expect {
            try await copy("Stores")
        } throws: {
            if case RestoreError.targetNotEmpty(target) = $0 { true } else { false }
        }
        #expect(try scene.sandbox.contents(of: "Cache/New/Stores").paths == ["mine"])
        let inside = scene.stores.appending("a/b")
        await #expect(throws: CopyStoresError.inside(inside, scene.stores)) {
            try await copy("Stores", to: inside)
        }
        #expect(!scene.sandbox.exists("Stores/a"))
    }

    @Test("Copying fills an empty directory")
    func empty() async throws {
        try scene.sandbox.directory("Cache/New/Stores")
        _ = try await copy("Stores")
        #expect(try GroceryStore(in: target).items().count == 12)
    }
}
