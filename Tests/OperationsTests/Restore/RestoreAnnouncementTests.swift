import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Word of a restore to the application")
struct RestoreAnnouncementTests {
    private struct Generation: Decodable, Equatable {
        var generation: Int
        var backup: String
    }

    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func generation() throws -> Generation {
        try JSONDecoder().decode(
            Generation.self,
            from: Data(try scene.sandbox.read("Stores.generation"))
        )
    }

    private func restore(
        at minute: Double,
        _ change: (inout RestoreAnnouncement) -> Void
    ) async throws -> RestoreBackup.Outcome {
        try await scene.restore {
            $0.backup.date = Scene.morning + 60 * minute
            change(&$0.announcement)
        }
    }

    @Test("is a file that counts restores, and starts again if it makes no sense")
    func generationFile() async throws {
        let name = try await scene.backUp().backup.name
        let file = scene.sandbox.path("Stores.generation")
        for number in 1...2 {
            let outcome = try await restore(at: Double(number)) { $0.generationFile = file }
            #expect(outcome.isAnnounced)
            #expect(try generation() == Generation(generation: number, backup: name))
        }
        try scene.sandbox.write("my notes", to: "notes")
        let notes = scene.sandbox.path("notes")
        #expect(try await !restore(at: 2.5) { $0.generationFile = notes }.isAnnounced)
        #expect(try scene.sandbox.read("notes") == Array("my notes".utf8))
        try scene.sandbox.write("{\"generation\": -7", to: "Stores.generation")
        _ = try await restore(at: 3) { $0.generationFile = file }
        #expect(try generation().generation == 1)
    }

    @Test("is a signal to a process whose number is in a file")
    func signal() async throws {
        try await scene.backUp()
        let file = scene.sandbox.path("app.pid")
        let application = try RunningTool(
            "/bin/sh",
            [
                "-c",
                "trap 'echo told; exit 0' USR1; echo $$ > '\(file)'; echo ready; while :; do sleep 0.05; done",
            ]
        )
        #expect(try application.readLine() == "ready")
        let signal = try #require(ApplicationSignal("SIGUSR1:\(file)"))
        #expect(signal.description == "USR1:\(file)")
        #expect(try await restore(at: 1) { $0.signals = [signal] }.isAnnounced)
        #expect(try application.readLine() == "told")
        #expect(application.wait() == 0)
        // It is not running any more, which is no failure.
        #expect(try await restore(at: 2) { $0.signals = [signal] }.isAnnounced)
        #expect(scene.told.contains { $0.contains("the application is not running") })
    }

    @Test("that cannot be made is reported, and the data is restored")
    func failures() async throws {
        try await scene.backUp()
        for (minute, text) in ["", "-1", "1", "0", "two"].enumerated() {
            try scene.sandbox.write(text, to: "app.pid")
            let signal = try #require(ApplicationSignal("HUP:\(scene.sandbox.path("app.pid"))"))
            let outcome = try await restore(at: Double(minute)) { $0.signals = [signal] }
            #expect(!outcome.isAnnounced)
        }
        #expect(scene.told.count { $0.contains("contains no process number") } == 5)
        let inside = scene.stores.appending("generation")
        #expect(try await !restore(at: 9) { $0.generationFile = inside }.isAnnounced)
        #expect(!scene.sandbox.exists("Stores/generation"))
        #expect(scene.told.contains { $0.contains("would be lost with the next restore") })
        #expect(try scene.itemNames().count == 12)
    }

    @Test(
        "is read as a signal's name and a path",
        arguments: ["HUP", "KILL:/x", "hup:/x", ":/x", "HUP:"]
    )
    func nonsense(text: String) {
        #expect(ApplicationSignal(text) == nil)
    }

    @Test("is given by the next run if that finishes the restore")
    func recovered() async throws {
        let name = try await scene.backUp().backup.name
        let faulty = FaultyFileSystem(failing: .callOf(.remove, 1), staysBroken: true)
        // Killed while it removes what was there.
        _ = try? await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
        var announcement = RestoreAnnouncement()
        announcement.generationFile = scene.sandbox.path("Stores.generation")
        try await RecoverRestore(
            of: scene.stores,
            announcing: announcement,
            context: scene.context()
        ).run()
        #expect(try generation() == Generation(generation: 1, backup: name))
    }
}
