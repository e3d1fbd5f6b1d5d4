import Archives
import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Files that rows refer to, in a backup")
struct ReferenceCheckTests {
    private static let directory = "Stores/.Model_SUPPORT/_EXTERNAL_DATA"
    private static let third = "\(directory)/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"

    /// A store of Core Data whose three files are all there.
    private func scene() throws -> Scene {
        let scene = try Scene(withStore: false)
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Stores")
        try scene.sandbox.write("the third", to: Self.third)
        return scene
    }

    private func check(
        _ scene: Scene,
        reading subset: DataSubset = .all,
        restores: Bool = false
    ) async throws -> CheckBackups.Result {
        var options = CheckBackups.Options()
        options.restores = restores
        let checks = CheckBackups(
            in: scene.folder(),
            options: options,
            context: scene.context()
        )
        let backup = try #require(try await checks.all().backups.first)
        return try await checks.run(backup, reading: subset, at: Scene.morning)
    }

    private func shown(_ scene: Scene) async throws -> ShowBackup.Outcome {
        try await ShowBackup(in: scene.folder(), context: scene.context()).run("latest")
    }

    @Test("are counted when it is made, and found when it is checked", arguments: [true, false])
    func whole(restores: Bool) async throws {
        let scene = try scene()
        try scene.sandbox.write(try scene.closedStore(), to: "Stores/plain.sqlite")
        try await scene.backUp()
        let facts = try #require(try await shown(scene).header?.stores)
        #expect(facts.map(\.externalReferences) == [3, nil])
        let result = try await check(scene, restores: restores)
        #expect(result.isGood && result.externalReferences == 3)
        // A part of the data shows nothing of them.
        if !restores {
            let part = try await check(scene, reading: .part(1, of: 2))
            #expect(part.isGood && part.externalReferences == nil)
        }
        #expect(try scene.leftovers() == [])
    }

    @Test(
        "are reported once more if they were missing when it was made, and are no damage of it then"
    )
    func known() async throws {
        let scene = try scene()
        try LocalFileSystem().remove(scene.sandbox.path(Self.third))
        #expect(try await scene.backUp().problems.count == 1)
        #expect(try await shown(scene).header?.stores.first?.externalReferences == 3)
        let result = try await check(scene)
        #expect(result.isGood && result.externalReferences == 3)
        #expect(result.remarks.count == 1)
        #expect(result.remarks.first?.contains("was missing when the backup was made") == true)
    }

    @Test("are damage of it if they are missing, and nobody said so")
    func missing() async throws {
        let scene = try scene()
        try LocalFileSystem().remove(scene.sandbox.path(Self.third))
        let name = try await scene.backUp().backup.name
        let path = scene.remotePath.appending(name)
        let reader = try ArchiveReader.open(File.open(path), mark: .init(path: Manifest.path))
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path.string)))
        let archive = try ArchiveMutation(reader, bytes)
        let text = try #require(archive.manifest)
        let silent = text.replacing(#/"problems":\[.*?\]/#, with: "\"problems\":[]")
        #expect(silent != text)
        try Data(archive.repacked(Array(silent.utf8))).write(to: URL(filePath: path.string))
        let result = try await check(scene)
        #expect(result.damage.count == 1 && result.remarks.isEmpty)
        let third = Self.third.dropFirst("Stores/".count)
        #expect(result.damage.first?.contains("'\(third)'") == true)
        #expect(try await check(scene, restores: true).damage.count == 1)
    }

    @Test("are found in all that an increment is built on")
    func increment() async throws {
        let scene = try IncrementScene(seed: 20_261_126)
        try Fixtures.copy("stores/core-data", into: scene.scene.sandbox, as: "Model")
        try LocalFileSystem().remove(scene.scene.stores)
        try LocalFileSystem().move(scene.scene.sandbox.path("Model"), to: scene.scene.stores)
        try scene.scene.sandbox.write("the third", to: Self.third)
        try scene.scene.sandbox.write(scene.random.bytes(300_000), to: "Stores/filler")
        try await scene.backUp()
        try scene.scene.sandbox.write("news", to: "Stores/news")
        #expect(try await scene.backUp().isIncrement)
        let result = try await check(scene.scene)
        #expect(result.isGood && result.externalReferences == 3)
    }
}
