import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// Files in a backup folder that other programs made, under names that backups could have.
@Suite("Files of other programs in a backup folder")
struct ForeignFilesTests {
    private let scene: Scene
    private let name: String

    init() async throws {
        scene = try Scene()
        name = try await scene.backUp().backup.name
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try scene.sandbox.write(bytes, to: "Remote/\(name)")
    }

    /// The listing, and what this run learnt.
    private func list() async throws -> BackupFolder.Listing {
        let folder = scene.folder()
        let listing = try await folder.list()
        try await folder.memory.catalog.save()
        return listing
    }

    @Test("Foreign files are skipped by content, with the reason, and hinder no command")
    func passedOver() async throws {
        let double: [UInt8] = [0, 5, 0x16, 7, 0, 2, 0, 0] + Array(repeating: 0, count: 4088)
        try write(double, "._\(name)")
        try write([0, 5], "._ cut Stores.zip")
        try write([], "placeholder Stores.zip")
        try write([], "placeholder Changes.zip.age")
        for name in [
            ".DS_Store", "desktop.ini", "~$notes Stores.zip.tmp", "x Stores (conflicted copy).zip",
            ".x Stores.zip.icloud",
        ] {
            try write([1], name)
        }
        let listing = try await list()
        #expect(listing.backups.map(\.name) == [name])
        #expect(listing.passedOver.count == 9)
        let reasons = listing.passedOver.map(\.reason)
        #expect(reasons.count { $0.contains("macOS") } == 2)
        #expect(reasons.count { $0.hasPrefix("it is empty") } == 2)
        #expect(try await scene.folder().find("latest").name == name)
        var policy = RetentionPolicy()
        policy.counts = [.last: 1]
        let options = PruneBackups.Options(policy: policy, now: Scene.morning)
        let prune = PruneBackups(in: scene.folder(), options: options, context: scene.context())
        #expect(try await prune.plan().keep.map(\.backup.name) == [name])
    }

    @Test("Truncated or empty backups, and files with only such a name, are not foreign files")
    func damaged() async throws {
        let bytes = try scene.sandbox.read("Remote/\(name)")
        try write(bytes, "._ renamed Stores.zip")
        #expect(try await list().backups.count == 2)
        try write(Array(bytes.prefix(100)), name)
        #expect(try await list().backups.first { $0.name == name }?.isUnreadable == true)
        try write(bytes, name)
        _ = try await list()
        try write([], name)
        let cut = try await list().backups.first { $0.name == name }
        #expect(cut?.archiveDamage != nil)
        // A copy that another machine has never seen whole.
        try write([], "[2026-Nov-20] 07.00 AM Stores.zip")
        let empty = try await list().backups.first { $0.name.hasPrefix("[2026-Nov-20]") }
        #expect(empty?.archiveDamage != nil)
    }
}
