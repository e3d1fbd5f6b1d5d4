import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A backup of twelve items that left files out, and a stores directory with eleven and other such files.
struct KeptScene {
    enum Exchange: CaseIterable {
        case beside, besideWithoutSwap, inside

        /// A file system of this kind that fails, or one that does not.
        func fileSystem(
            failing fault: FaultyFileSystem.Fault? = nil,
            effect: FaultyFileSystem.Effect = .notDone,
            staysBroken: Bool = false
        ) -> FaultyFileSystem {
            FaultyFileSystem(
                failing: fault,
                effect: effect,
                staysBroken: staysBroken,
                isSwapSupported: self != .besideWithoutSwap
            )
        }
    }

    static let patterns = ["*.nosync/", "/cache/", "*.tmp", "*-wal", "*-shm", "other.db"]
    let scene: Scene
    let backup: Backup
    /// All that is to be as it is, whatever a restore does.
    private let kept: [Contents.Item]
    private let identities: [RelativePath: FileInfo.Identity]

    init(_ exchange: Exchange = .beside) async throws {
        let scene = try Scene()
        self.scene = scene
        let sandbox = scene.sandbox
        try sandbox.write("in the backup", to: "Stores/directory/note")
        try sandbox.write("old", to: "Stores/cache/old")
        try StoreApplication(on: sandbox.path("Stores/other.db"), "CREATE TABLE t (x)").end()
        var options = scene.options()
        options.exclusions.patterns = try Self.patterns.map { try PathPattern($0) }
        backup = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run().backup

        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
        try sandbox.write("replaced", to: "Stores/directory/note")
        try sandbox.write("replaced", to: "Stores/directory/later")
        try LocalFileSystem().remove(sandbox.path("Stores/cache/old"))
        for path in [
            "cache/deep/a", "cache/.b", "c.tmp", "directory/d.tmp", "new/only/e.tmp", "x.nosync/f",
        ] {
            try sandbox.write("kept \(path)", to: "Stores/\(path)")
        }
        try sandbox.link("Stores/cache/link", to: "../directory")
        try Tool.check("mkfifo", [sandbox.path("Stores/cache/pipe").string])
        try sandbox.write("kept", to: "Stores/.other_SUPPORT/_EXTERNAL_DATA/1")
        // Its newest rows are in its log only.
        let application = try StoreApplication(
            on: sandbox.path("Stores/other.db"),
            "PRAGMA journal_mode = WAL",
            "INSERT INTO t VALUES (1), (2), (3)"
        )
        application.kill()
        if exchange == .inside {
            try sandbox.write("x", to: "Stores/\(StoresDirectory.restoreArea)/kept")
        }
        let items = try Self.keptItems(in: scene.stores)
        #expect(items.count >= 14)
        kept = items
        identities = try Self.identities(of: items, in: scene.stores)
    }

    /// A copy in a place of its own: to make one takes longer.
    init(copying model: KeptScene) throws {
        scene = try Scene(withStore: false)
        try Tool.check(
            "cp",
            ["-a", model.scene.sandbox.path(".").string + "/.", scene.sandbox.path(".").string]
        )
        (backup, kept) = (model.backup, model.kept)
        identities = try Self.identities(of: kept, in: scene.stores)
    }

    /// Every step of a restore with 'make faults', else some of them.
    static var steps: some Sequence<Int> {
        let isFull = ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS"] == "all"
        return sequence(first: 1) { $0 + (isFull ? 1 : 3) }
    }

    /// Expects all that was left out to be there, the very same files; and of all else the new or the old
    /// state as a whole.
    func expectWhole(_ what: String, hasNewRows: Bool? = nil) throws {
        let items = try Self.keptItems(in: scene.stores)
        #expect(items == kept, "\(what): what was left out is not as it was")
        let now = try Self.identities(of: items, in: scene.stores)
        #expect(now == identities, "\(what): other files are there")
        let isNew = try scene.itemNames().contains("Apples")
        let note = String(decoding: try scene.sandbox.read("Stores/directory/note"), as: UTF8.self)
        let isLater = scene.sandbox.exists("Stores/directory/later")
        #expect(note == (isNew ? "in the backup" : "replaced"), "\(what): a mix of two states")
        #expect(isLater == !isNew, "\(what): a mix of two states")
        if let hasNewRows { #expect(isNew == hasNewRows, "\(what)") }
    }

    func restore(
        _ name: String? = nil,
        through fileSystem: any FileSystem = LocalFileSystem(),
        _ change: (inout RestoreBackup.Options) -> Void = { _ in }
    ) async throws -> RestoreBackup.Outcome {
        try await scene.restore(name ?? backup.name, fileSystem: fileSystem, change)
    }

    /// What is left out, but for the times of directories, which change with the names in them.
    private static func keptItems(in stores: FilePath) throws -> [Contents.Item] {
        try Contents(of: stores).items.filter { item in
            let names = item.path.components.map(\.description)
            return ["cache", "x.nosync", "other.db", "other.db-wal", ".other_SUPPORT"].contains(
                names[0]
            )
                || names[names.count - 1].hasSuffix(".tmp")
        }
    }

    private static func identities(
        of items: [Contents.Item],
        in stores: FilePath
    ) throws -> [RelativePath: FileInfo.Identity] {
        try Dictionary(
            uniqueKeysWithValues: items.map {
                ($0.path, try FileInfo(of: $0.path.below(stores)).identity)
            }
        )
    }
}
