import Backups
import Files
import SystemPackage
import TestSupport
import Testing

@testable import Operations

/// A person's own files under the name that restores work under.
@Suite("The directory of restores in a backup")
struct RestoreAreaTests {
    private let scene: Scene
    private let area = "Stores/.grocerydude-restore"

    init() throws {
        scene = try Scene()
    }

    @Test("is left out with what restores keep there, and all else in it is a problem")
    func foreign() async throws {
        for name in ["New", "Old_2", "FailedRestore", "FailedRestore_3"] {
            try scene.sandbox.write("", to: "\(area)/\(name)/a")
        }
        #expect(try await scene.backUp().problems.isEmpty)
        try scene.sandbox.write("mine", to: "\(area)/diary/a")
        try scene.sandbox.write("mine", to: "\(area)/Newest")
        let problems = try await scene.backUp().problems
        #expect(problems.map(\.kind) == [.unreadable, .unreadable])
        #expect(
            problems.map(\.path) == [".grocerydude-restore/Newest", ".grocerydude-restore/diary"]
        )
        #expect(problems.first?.description.contains("move it") == true)
    }

    @Test("is a problem if it is a file, and no reason to refuse a restore")
    func file() async throws {
        try await scene.backUp()
        try scene.sandbox.write("mine", to: area)
        #expect(try await scene.backUp().problems.map(\.path) == [".grocerydude-restore"])
        try LocalFileSystem().remove(scene.sandbox.path(area))
        try scene.sandbox.write("mine", to: "\(area)/diary")
        let outcome = try await scene.restore()
        #expect(outcome.safetyBackup != nil)
        #expect(scene.sandbox.exists("\(area)/diary"))
    }
}
