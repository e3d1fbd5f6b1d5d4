import Files
import Foundation
import Sample
import SystemPackage
import TestSupport
import Testing

@testable import Archives
@testable import Backups
@testable import Operations

/// Archives that were valid before something happened to them: restoring gives the bytes that were
/// backed up, or an error, and never something else, nor a crash, nor does it take for ever.
@Suite("Mutated archives")
struct MutationTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// The restored content, by path; a link's target and a file's content are both bytes.
    private struct Restored: Equatable {
        struct Item: Equatable {
            var isDirectory: Bool
            var bytes: [UInt8]
            /// Kind, mode and time.
            var attributes: String
        }

        var items: [RelativePath: Item] = [:]

        init(_ path: FilePath) throws {
            try Directory.open(path).walk(failed: { throw $1 }) { file in
                let kind = file.info.kind
                let bytes =
                    switch kind {
                    case .link: try file.directory.linkTarget(file.name)
                    case .file:
                        try file.directory.file(file.name).readExactly(
                            count: Int(file.info.size),
                            at: 0
                        )
                    default: [UInt8]()
                    }
                items[file.path] = Item(
                    isDirectory: kind == .directory,
                    bytes: bytes,
                    attributes: "\(kind) \(file.info.mode) \(file.info.modified)"
                )
                return .descend
            }
        }

        /// The paths that differ, for messages.
        func difference(from other: Restored) -> String {
            Set(items.keys).union(other.items.keys).filter { items[$0] != other.items[$0] }
                .sorted().map { path in
                    let sides = [other.items[path], items[path]].map {
                        $0.map { "\($0.bytes.count) bytes \($0.attributes)" } ?? "missing"
                    }
                    return "'\(path)' \(sides.joined(separator: " → "))"
                }.joined(separator: ", ")
        }

        /// The same but for attributes.
        func hasBytes(of other: Restored) -> Bool {
            items.count == other.items.count
                && items.allSatisfy { path, item in
                    let before = other.items[path]
                    return item.isDirectory == before?.isDirectory && item.bytes == before?.bytes
                }
        }
    }

    /// Restores an archive as `restore` does, but for the waiting for the disk.
    private func restore(_ path: FilePath) throws -> (Restored, isOurs: Bool) {
        let target = sandbox.path("Restored")
        defer { try? LocalFileSystem().remove(target) }
        let plan = try ArchivedBackup(
            path,
            name: "mutated",
            keys: .none,
            holdingTo: RestoreLimits()
        )
        try plan.checkSpace(at: sandbox.path)
        try LocalFileSystem().createDirectory(target)
        let extractor = ArchiveExtractor(
            into: try Directory.open(target),
            syncing: .never,
            threads: 2
        ) { _ in }
        defer { extractor.close() }
        try plan.forEach { item in
            var item = item
            // A user who may give files away must not do so in a test.
            item.attributes.owner = nil
            try extractor.extract(item)
        }
        try extractor.finish()
        return (try Restored(target), plan.header != nil)
    }

    private func tryAll(_ seeds: Fuzzing, _ name: String, _ archive: FilePath) throws {
        let bytes = try File.open(archive).readExactly(
            count: Int(FileInfo(of: archive).size),
            at: 0
        )
        let (whole, _) = try restore(archive)
        let mutation = try ArchiveMutation(
            ArchiveReader.open(archive, mark: .init(path: Manifest.path)),
            bytes
        )
        var verdicts: [String: Int] = [:]
        var slowest = Duration.zero
        for seed in seeds {
            var random = Pseudorandom(seed: seed)
            let mutated = try mutation.mutated(&random)
            let path = try sandbox.write(mutated.bytes, to: "mutated.zip")
            var verdict = "refused"
            let time = try ContinuousClock().measure {
                do {
                    let (restored, isOurs) = try restore(path)
                    let mayDiffer = mutated.editsManifest || !isOurs
                    verdict = restored == whole ? "whole" : "with other attributes"
                    let isRight =
                        restored == whole || mayDiffer && restored.hasBytes(of: whole)
                    let label = "\(name), seed \(seed): \(mutated.label)"
                    #expect(isRight, "\(label): \(restored.difference(from: whole))")
                } catch is ArchiveError {
                } catch is ArchivedBackupError {
                } catch is OperationError {
                } catch is RestoreError {
                }
            }
            slowest = max(slowest, time)
            verdicts[verdict, default: 0] += 1
        }
        seeds.report(name, verdicts)
        // It takes milliseconds; a minute is what nobody waits for.
        #expect(slowest < .seconds(60), "\(name)")
        #expect(seeds.count < 100 || verdicts["refused", default: 0] > 20, "\(name)")
    }

    @Test("A mutated archive of ours restores the saved content with all attributes, or is refused")
    func ours() async throws {
        let scene = try Scene()
        var random = Pseudorandom(seed: 7)
        let line = { (number: Int) in Array("\(number): milk, eggs and bread\n".utf8) }
        try scene.sandbox.write((0..<90_000).flatMap(line), to: "Stores/deep/er/three segments")
        try scene.sandbox.write(random.bytes(3_000), to: "Stores/stored")
        try scene.sandbox.write("", to: "Stores/deep/empty")
        try scene.sandbox.link("Stores/link", to: "deep/er")
        try scene.sandbox.directory("Stores/nothing")
        #if os(Linux)
        let root = try Directory.open(scene.stores)
        let file = try root.createFile(RelativePath(validating: [0x63, 0xE9]).name)
        try [1, 2, 3].withUnsafeBytes { try file.write($0, at: 0) }
        #endif
        let before = try Restored(scene.stores)
        let name = try await scene.backUp().backup.name
        let archive = scene.remotePath.appending(name)
        // The store's log is folded in; all else is byte for byte what it was.
        let stores = [GroceryStore.fileName, GroceryStore.fileName + "-wal"]
        let (restored, _) = try restore(archive)
        for (path, item) in before.items where !stores.contains(path.description) {
            #expect(restored.items[path] == item, "\(path)")
        }
        try tryAll(Fuzzing(usual: 400), "ours", archive)
    }

    @Test(
        "A mutated foreign archive restores all bytes, or is refused",
        arguments: ["Info-ZIP", "7-Zip", "bsdtar", "zipfile deflated", "zipfile bzip2"]
    )
    func foreign(name: String) throws {
        let archive = Fixtures.path.appending("archives/\(name).zip")
        try tryAll(Fuzzing(usual: 150), name, archive)
    }
}
