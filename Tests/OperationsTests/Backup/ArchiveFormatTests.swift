import Archives
import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Operations

/// Documentation/Design/ArchiveFormat.md has a reader in it, which nothing of ours is in.
@Suite("The archive format", .enabled(if: Tool.isInstalled("python3")))
struct ArchiveFormatTests {
    /// The program of section 9, as a file.
    private func reader(in scene: Scene) throws -> FilePath {
        let path = Fixtures.repository.appending("Documentation/Design/ArchiveFormat.md")
        let text = String(
            decoding: try File.contents(of: path, limit: 1 << 20),
            as: UTF8.self
        )
        let start = try #require(text.firstRange(of: "```python\n")).upperBound
        let end = try #require(text[start...].firstRange(of: "```\n")).lowerBound
        return try scene.sandbox.write(Array(text[start..<end].utf8), to: "verify.py")
    }

    private func archive(in scene: Scene) throws -> String {
        let names = try Directory.open(scene.sandbox.path("Remote")).names()
        let name = try #require(names.first { $0.description.hasSuffix("Stores.zip") })
        return "Remote/\(name)"
    }

    @Test(
        "The reader in the format's description finds a backup whole, and finds a wrong descriptor"
    )
    func documentedReader() async throws {
        let scene = try Scene()
        var random = Pseudorandom(seed: 3)
        let large = random.text(Segment.size) + random.bytes(Segment.size) + [7]
        try scene.sandbox.write(large, to: "Stores/large")
        try scene.sandbox.write("", to: "Stores/sub/empty")
        try scene.sandbox.link("Stores/link", to: "large")
        try await scene.backUp()
        let program = try reader(in: scene)
        let name = try archive(in: scene)
        let path = scene.sandbox.path(name).string
        let whole = try Tool.run("python3", [program.string, path])
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(whole.text.contains("2097153  3 segments  'large'  ok"), "\(whole.text)")
        var bytes = try scene.sandbox.read(name)
        let signature: [UInt8] = [0x50, 0x4B, 7, 8]
        let descriptor = try #require(bytes.firstRange(of: signature)).upperBound
        bytes[descriptor] ^= 1
        try scene.sandbox.write(bytes, to: "damaged.zip")
        let damaged = try Tool.run(
            "python3",
            [program.string, scene.sandbox.path("damaged.zip").string]
        )
        #expect(damaged.status == 1)
        #expect(damaged.text.contains("'large'  BAD: another data descriptor"), "\(damaged.text)")
    }

    /// Backs up a large file that is changed once, when most of it has been read.
    private func backUpLarge(
        _ scene: Scene,
        _ change: @escaping @Sendable (FilePath) throws -> Void
    ) async throws -> CreateBackup.Outcome {
        var random = Pseudorandom(seed: 4)
        let path = try scene.sandbox.write(random.bytes(20 * Segment.size), to: "Stores/large")
        let calls = Mutex(0)
        let context = scene.context {
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call == 18 { try change(path) }
        }
        let outcome = try await scene.backUp(context: context)
        #expect(calls.withLock { $0 } > 18)
        return outcome
    }

    @Test(
        "A large file that goes while it is read is not in the directory, and its beginning is a gap"
    )
    func vanished() async throws {
        let scene = try Scene()
        let outcome = try await backUpLarge(scene) { try LocalFileSystem().remove($0) }
        #expect(outcome.problems.isEmpty)
        #expect(try scene.sandbox.read(archive(in: scene)).count > Segment.size)
        let program = try reader(in: scene)
        let path = try scene.sandbox.path(archive(in: scene)).string
        let result = try Tool.run("python3", [program.string, path])
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.text.contains("large"))
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(!scene.sandbox.exists("Stores/large"))
    }

    @Test("A large file that changes while it is read is read again and restored in its last state")
    func changed() async throws {
        let scene = try Scene()
        let outcome = try await backUpLarge(scene) { path in
            let file = try #require(FileHandle(forWritingAtPath: path.string))
            try file.write(contentsOf: Array("changed".utf8))
        }
        #expect(outcome.problems.isEmpty)
        #expect(try scene.sandbox.read(archive(in: scene)).count > 21 * Segment.size)
        let expected = try scene.sandbox.read("Stores/large")
        #expect(expected.starts(with: Array("changed".utf8)))
        try await scene.restore { $0.makesSafetyBackup = false }
        let isWhole = try scene.sandbox.read("Stores/large") == expected
        #expect(isWhole)
    }
}
