import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Archives
@testable import Backups
@testable import Operations

/// Archives that were crafted: each says something that cannot be, and is refused whatever its checksums say.
@Suite("Hostile increments")
struct IncrementHostileTests {
    private let life: IncrementScene
    private let full: Backup
    /// The file that is patched, of 2.5 MiB.
    private let content: [UInt8]
    private static let path = RelativePath(name: "file")

    init() async throws {
        life = try IncrementScene(seed: 31)
        content = life.random.bytes(5 << 19)
        try Data(content).write(to: URL(filePath: life.scene.stores.appending("file").string))
        try FileManager.default.createSymbolicLink(
            atPath: life.scene.stores.appending("link").string,
            withDestinationPath: "file"
        )
        full = try await life.backUp()
    }

    /// What an increment says.
    private struct Lie {
        var needs: [Need]
        var number = 1
        var path = IncrementHostileTests.path
        var kind = EntryAttributes.Kind.file
        var size: Int64
        /// The content that is patched.
        var base: [UInt8]
        var runs: [(offset: UInt64, bytes: [UInt8])] = [(5, [1, 2, 3])]
        /// Bytes behind the runs.
        var rest: [UInt8] = []
        /// Instead of what is true of the patched file.
        var changed: [FilePatch.ChangedSegment]?
        var isTwice = false
        /// Whether the state that it names differs from its result.
        var isOtherState = false
    }

    private func run(_ offset: UInt64, _ bytes: [UInt8], length: Int? = nil) -> [UInt8] {
        withUnsafeBytes(of: offset.littleEndian, Array.init)
            + withUnsafeBytes(of: UInt32(length ?? bytes.count).littleEndian, Array.init) + bytes
    }

    /// Makes an archive of it beside the whole one, opens and extracts it.
    private func extract(_ change: (inout Lie) -> Void) async throws -> [UInt8] {
        let folder = life.scene.folder()
        let whole = try await folder.open(full, holdingTo: nil) { _ in }
        let header = try #require(whole.header)
        let wholeState = try #require(try whole.trailer()?.state)
        let need = Need(
            name: full.name,
            size: full.size,
            created: header.created,
            number: 0,
            state: wholeState
        )
        var lie = Lie(needs: [need], size: Int64(content.count), base: content)
        change(&lie)

        var patched = lie.base
        for run in lie.runs where run.offset < UInt64(patched.count) {
            let start = Int(run.offset)
            let end = min(start + run.bytes.count, patched.count)
            patched.replaceSubrange(start..<end, with: run.bytes.prefix(end - start))
        }
        let digests = stride(from: 0, to: patched.count, by: Segment.size).map { start in
            patched[start..<min(start + Segment.size, patched.count)].withUnsafeBytes {
                Digest(of: $0)
            }
        }
        var tally = BackupTally()
        var attributes = EntryAttributes(path: lie.path, kind: lie.kind, mode: 0o600, modified: 7)
        try whole.forEach { item in
            guard item.attributes.path == lie.path else {
                return tally.add(
                    item.attributes,
                    size: item.size,
                    digests: (item.segments ?? []).map(\.digest)
                )
            }
            attributes.owner = item.attributes.owner
            tally.add(attributes, size: lie.size, digests: digests)
        }

        if lie.isOtherState { tally.add(attributes, size: 1, digests: digests) }

        let name = "[2030-Mar-20] 09.01 AM Changes.zip"
        let path = life.scene.remotePath.appending(name)
        try LocalFileSystem().remove(path)
        var crafted = header
        crafted.format = 2
        crafted.id = .random()
        crafted.number = lie.number
        crafted.needs = lie.needs
        let manifest = ManifestWriter(
            modified: life.date,
            compression: .default,
            in: life.scene.sandbox.path
        )
        try manifest.begin(crafted)
        let archive = ArchiveWriter(to: try File.create(path), compression: .default, threads: 1) {
            try manifest.append($0)
        }
        defer { archive.close() }
        let changed = lie.changed ?? digests.enumerated().map { .init(index: $0, digest: $1) }
        let record = ManifestRecord(
            attributes,
            size: lie.size,
            patch: FilePatch(size: 0, segments: [], changed: changed)
        )
        let bytes = lie.runs.flatMap { run($0.offset, $0.bytes) } + lie.rest
        var entry = attributes
        entry.kind = .file
        entry.path = manifest.expectPatch(of: record)
        _ = try archive.add(entry, size: Int64(bytes.count)) { buffer, offset in
            let part = bytes[Int(offset)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
        try archive.drain()
        if lie.isTwice { try manifest.append(ManifestRecord(removed: lie.path)) }
        if lie.isTwice {
            let nothing = FilePatch(size: 0, segments: [], changed: [])
            try manifest.append(ManifestRecord(attributes, size: lie.size, patch: nothing))
        }
        _ = try manifest.finish(problems: [], tally: tally)
        _ = try manifest.add(to: archive, signing: nil)
        _ = try archive.finish()

        let target = life.scene.sandbox.path("Out-\(UUID().uuidString)")
        try LocalFileSystem().createDirectory(target)
        try await life.extract(folder.find(name), from: folder, to: target)
        return Array(try Data(contentsOf: URL(filePath: target.appending("file").string)))
    }

    @Test("An honest increment is restored")
    func honest() async throws {
        let bytes = try await extract { $0.runs = [(5, [1, 2, 3]), (3 << 19, [4])] }
        #expect(bytes[5...7] == [1, 2, 3] && bytes[3 << 19] == 4 && bytes.count == content.count)
    }

    private func expectRefused(
        _ what: Comment,
        _ change: (inout Lie) -> Void
    ) async {
        await #expect(throws: (any Error).self, what) { _ = try await extract(change) }
    }

    @Test("An increment with runs outside its file, out of order or across segments is refused")
    func runs() async {
        let size = UInt64(content.count)
        await expectRefused("behind the end") { $0.runs = [(size, [1])] }
        await expectRefused("over the end") { $0.runs = [(size - 1, [1, 2])] }
        await expectRefused("far away") { $0.runs = [(.max - 1, [1])] }
        await expectRefused("backwards") { $0.runs = [(9, [1]), (5, [2])] }
        await expectRefused("overlapping") { $0.runs = [(5, [1, 2, 3]), (7, [2])] }
        await expectRefused("over a segment") { $0.runs = [((1 << 20) - 1, [1, 2])] }
        await expectRefused("of nothing") { $0.runs = [(5, [])] }
        await expectRefused("cut off") { $0.rest = run(9, [1], length: 2) }
        await expectRefused("half a head") { $0.rest = [0, 0, 0] }
        await expectRefused("endless") { $0.rest = run(9, [1], length: Int(UInt32.max)) }
        await expectRefused("larger than any patch") {
            $0.rest = [UInt8](repeating: 0, count: 7 << 20)
        }
    }

    @Test("An increment with impossible segments, sizes or paths is refused")
    func records() async throws {
        let digest = Digest.ofNothing
        await expectRefused("no such segment") { $0.changed = [.init(index: 3, digest: digest)] }
        await expectRefused("segments backwards") {
            $0.changed = [.init(index: 1, digest: digest), .init(index: 0, digest: digest)]
        }
        await expectRefused("another digest") { $0.changed = [.init(index: 0, digest: digest)] }
        await expectRefused("nothing told as changed") { $0.changed = [] }
        await expectRefused("a size of others") { $0.size = 9 << 30 }
        await expectRefused("a negative size") { $0.size = -1 }
        await expectRefused("a path that is not there") { $0.path = RelativePath(name: "nowhere") }
        await expectRefused("a link") {
            $0.path = RelativePath(name: "link")
            ($0.base, $0.size, $0.runs) = (Array("file".utf8), 4, [(0, [120])])
        }
        await expectRefused("another whole") { $0.isOtherState = true }
        await expectRefused("a path twice") { $0.isTwice = true }
    }

    @Test("An increment with impossible bases is refused")
    func needs() async {
        await expectRefused("none") { $0.needs = [] }
        await expectRefused("its own number") { $0.number = 0 }
        await expectRefused("too many") {
            let need = $0.needs[0]
            $0.needs = (0..<17).map { number in
                var other = need
                other.number = number
                return other
            }
            $0.number = 99
        }
        await expectRefused("another state") {
            $0.needs[0].state = StateDigest().description
        }
        await expectRefused("another moment") { $0.needs[0].created = "2001-01-01T00:00:00Z" }
    }
}
