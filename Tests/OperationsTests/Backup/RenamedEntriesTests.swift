import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// What gets another name, or is written, at any moment while data is read.
@Suite("Changes of names while a backup reads them", .enabled(if: Tool.isInstalled("unzip")))
struct RenamedEntriesTests {
    /// The greatest number of moments; a run has fewer.
    private static let moments = 2_000

    private func scene() throws -> Scene {
        let scene = try Scene()
        for name in ["photos/1", "photos/deep/2", "Z/3", "note"] {
            try scene.sandbox.write(name, to: "Stores/\(name)")
        }
        return scene
    }

    private func names(in backup: Backup, of scene: Scene) throws -> [String] {
        let archive = scene.remotePath.appending(backup.name)
        return try Tool.check("unzip", ["-Z1", archive.string]).split(separator: "\n")
            .map(String.init)
    }

    /// Runs `body` with a context that makes a change at each moment, until a run ends before the change.
    ///
    /// The result of `body` holds the expectations after the change.
    private func atEachMoment(
        _ change: @escaping @Sendable (Scene) throws -> Void,
        _ body: (Scene, OperationContext, _ moment: Int) async throws -> () throws -> Void
    ) async throws {
        for moment in 1...Self.moments {
            let scene = try scene()
            let calls = Counter()
            let isDone = Mutex(false)
            let context = scene.context(meanwhile: {
                guard calls.next() == moment else { return }
                try change(scene)
                isDone.withLock { $0 = true }
            })
            let expect = try await body(scene, context, moment)
            if !isDone.withLock({ $0 }) { return }
            try expect()
        }
        Issue.record("a run has more than \(Self.moments) moments")
    }

    @Test(
        "A backup has each file under one of its names, whenever a directory or a file is renamed",
        arguments: [
            ("photos", "photos2"), ("photos", "Z/photos"), ("photos/deep", "A"), ("note", "Z/note"),
            ("Z/3", "3"),
        ]
    )
    func renamed(from: String, to: String) async throws {
        try await atEachMoment { scene in
            let stores = scene.stores.string
            try #require(rename("\(stores)/\(from)", "\(stores)/\(to)") == 0)
        } _: { scene, context, moment in
            let outcome = try await scene.backUp(context: context)
            return {
                let names = try names(in: outcome.backup, of: scene)
                for last in ["1", "2", "3", "note"] {
                    let found = names.filter { $0 == last || $0.hasSuffix("/\(last)") }
                    #expect(!found.isEmpty, "\(from) → \(to) at \(moment): \(names)")
                }
                #expect(Set(names).count == names.count)
            }
        }
    }

    @Test("A restore replaces nothing that was written while it backed the data up")
    func written() async throws {
        try await atEachMoment { scene in
            try scene.sandbox.write("late", to: "Stores/photos/late")
        } _: { scene, context, moment in
            let backup = try await scene.backUp().backup
            let late = scene.sandbox.path("Stores/photos/late")
            do {
                let restore = scene.restoring(context: context)
                let safety = try await restore.run(backup, to: scene.stores).safetyBackup
                return {
                    let saved = try safety.map { try names(in: $0, of: scene) } ?? []
                    let isThere = try FileInfo.ifPresent(late) != nil
                    #expect(saved.contains("photos/late") || isThere, "at \(moment)")
                }
            } catch RestoreError.changed {
                let leftovers = try scene.leftovers()
                #expect(leftovers.isEmpty, "at \(moment)")
            } catch RestoreError.rolledBack(RestoreError.changed, _) {
                // What is refused is kept.
            }
            let isThere = try FileInfo.ifPresent(late) != nil
            return { #expect(isThere, "at \(moment)") }
        }
    }
}
