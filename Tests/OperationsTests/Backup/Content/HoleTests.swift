import Archives
import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Files with holes")
struct HoleTests {
    private static let size: Int64 = 40 << 20

    /// Makes a file that has data in few places.
    private func makeFile(_ scene: Scene, at places: [Int64] = [5 << 12, (17 << 20) + 3]) throws {
        let file = try File.create(scene.stores.appending("lastlog"))
        try file.truncate(to: Self.size + 2)
        for place in places { try write("data", to: file, at: place) }
        try write("x\n", to: file, at: Self.size)
        try file.setModified(1_700_000_000_000_000_000)
    }

    private func write(_ text: String, to file: File, at place: Int64) throws {
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: place) }
    }

    @Test("A file with holes takes only the space of its data, and a restore makes its holes again")
    func roundTrip() async throws {
        let scene = try Scene()
        try makeFile(scene)
        // One that has zeros where it could have holes.
        let zeros = [UInt8](repeating: 0, count: 3 << 20)
        try scene.sandbox.write(zeros + [1], to: "Stores/zeros")
        let before = try scene.sandbox.contents(of: "Stores")
        let outcome = try await scene.backUp()
        #expect(outcome.problems.isEmpty)
        #expect(outcome.backup.size < 1 << 20)
        try await scene.restore { $0.makesSafetyBackup = false }
        let after = try scene.sandbox.contents(of: "Stores")
        for name in ["lastlog", "zeros"] {
            #expect(
                after.items.first { $0.path.description == name }
                    == before.items.first { $0.path.description == name }
            )
        }
        let info = try FileInfo(of: scene.stores.appending("lastlog"))
        #expect(info.allocated < 1 << 20)
    }

    @Test(
        "Other programs unpack a file with holes",
        .enabled(if: Tool.isInstalled("python3"), "python3 is not installed")
    )
    func others() async throws {
        let scene = try Scene()
        try makeFile(scene)
        let backup = try await scene.backUp().backup
        let program = """
            import sys, zipfile, hashlib
            z = zipfile.ZipFile(sys.argv[1])
            assert z.testzip() is None
            print(z.read('lastlog') == open(sys.argv[2], 'rb').read())
            """
        let output = try Tool.check(
            "python3",
            [
                "-c", program, scene.remotePath.appending(backup.name).string,
                scene.stores.appending("lastlog").string,
            ]
        )
        #expect(output.contains("True"))
    }

    @Test("Increments and consolidated backups contain a file with holes")
    func increments() async throws {
        let life = try IncrementScene(seed: 3)
        try life.makeStore("store0.sqlite", rows: 200)
        try makeFile(life.scene)
        try await life.backUp()
        let path = life.scene.stores.appending("lastlog")
        // Data in a hole, a hole in place of data, data that is other.
        for change in 0..<3 {
            let bytes = try life.scene.sandbox.read("Stores/lastlog")
            try LocalFileSystem().remove(path)
            switch change {
            case 0: try makeFile(life.scene, at: [5 << 12, (17 << 20) + 3, 30 << 20])
            case 1: try makeFile(life.scene, at: [5 << 12, 30 << 20])
            default: try makeFile(life.scene, at: [(5 << 12) + 9, 30 << 20, (31 << 20) - 2])
            }
            #expect(try life.scene.sandbox.read("Stores/lastlog") != bytes)
            let backup = try await life.backUp()
            #expect(backup.isIncrement && backup.size < 200 << 10)
        }
        for name in life.names { #expect(try await life.differences(name).isEmpty) }
        let whole = try await life.consolidate(try #require(life.names.last)).backup
        #expect(try await life.differences(whole.name).isEmpty)
        #expect(whole.size < 1 << 20)
    }

    @Test("A restore of files that are only a hole keeps their lengths and allocates no space")
    func nothing() async throws {
        let scene = try Scene()
        for size in [1, 1 << 20, (1 << 20) + 1, 8 << 20] as [Int64] {
            try scene.sandbox.write("", to: "Stores/hole\(size)")
            try scene.sandbox.stretch(scene.stores.appending("hole\(size)"), to: size)
        }
        try await scene.backUp()
        let before = try scene.sandbox.contents(of: "Stores").items.filter {
            $0.path.description.hasPrefix("hole")
        }
        try await scene.restore { $0.makesSafetyBackup = false }
        let after = try scene.sandbox.contents(of: "Stores").items.filter {
            $0.path.description.hasPrefix("hole")
        }
        #expect(before == after && after.count == 4)
        #expect(try FileInfo(of: scene.stores.appending("hole\(8 << 20)")).allocated == 0)
    }

    @Test("A backup has what is written into a hole while it is read, or reports the file")
    func written() async throws {
        let scene = try Scene()
        try makeFile(scene)
        let path = scene.stores.appending("lastlog")
        let calls = Counter()
        let context = scene.context {
            guard calls.next() == 20 else { return }
            let file = try #require(fopen(path.string, "r+"))
            fseek(file, 35 << 20, SEEK_SET)
            fputs("late", file)
            fclose(file)
        }
        let outcome = try await scene.backUp(context: context)
        #expect(outcome.problems.isEmpty)
        let written = try scene.sandbox.read("Stores/lastlog")
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/lastlog") == written)
    }
}
