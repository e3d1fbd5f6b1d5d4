import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A backup, and a stores directory that is another one since then: in what a restore names, and in what it
/// does not.
struct PartScene {
    /// What is named: a store, a directory, a file in a directory, and one whose directories are gone.
    static let names = ["Grocery-Dude.sqlite", "photos", "shelf/book", "albums/old/cover"]
    static let external = ".Grocery-Dude_SUPPORT/_EXTERNAL_DATA"
    static let store = GroceryStore.fileName

    let scene: Scene
    let backup: Backup
    /// What may be there after a restore of the part, or of nothing.
    let old: State
    let new: State
    /// The inodes of all that is not named.
    private let identities: [RelativePath: FileInfo.Identity]

    /// What a directory holds, but for the times of directories, which change with the names in them.
    typealias State = [RelativePath: Contents.Item]

    init() async throws {
        let scene = try Scene()
        self.scene = scene
        let sandbox = scene.sandbox
        for path in [
            "photos/1", "photos/deep/2", "shelf/book", "shelf/pen", "albums/old/cover", "note",
            "\(Self.external)/same", "\(Self.external)/other", "\(Self.external)/back",
        ] {
            try sandbox.write("backup's \(path)", to: "Stores/\(path)")
        }
        try sandbox.link("Stores/photos/link", to: "../note")
        try StoreApplication(on: sandbox.path("Stores/other.db"), "CREATE TABLE t (x)").end()
        var options = scene.options()
        options.exclusions.patterns = [try PathPattern("*.tmp")]
        backup = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run().backup
        let target = sandbox.path("Cache/reference")
        _ = try await scene.restoring().extract(backup, to: target)

        for path in [
            "photos/1", "photos/new", "shelf/book", "shelf/pen", "note", "\(Self.external)/other",
            "\(Self.external)/only here", "photos/kept.tmp", "outside.tmp",
        ] {
            try sandbox.write("present \(path)", to: "Stores/\(path)")
        }
        for path in ["photos/deep", "albums", "\(Self.external)/back"] {
            try LocalFileSystem().remove(sandbox.path("Stores/\(path)"))
        }
        // The last rows of both stores are in their logs only.
        try Self.write("DELETE FROM item WHERE name = 'Apples'", in: Self.store, sandbox)
        try Self.write("INSERT INTO t VALUES (1), (2), (3)", in: "other.db", sandbox)
        old = try Self.state(of: scene.stores)
        new = try Self.merged(old, with: Self.state(of: target))
        #expect(old != new)
        #expect(old[try RelativePath("\(Self.store)-wal")] != nil)
        identities = try Self.identities(of: old, in: scene.stores)
    }

    /// A copy in a place of its own: to make one takes longer.
    init(copying model: PartScene) throws {
        scene = try Scene(withStore: false)
        try Tool.check(
            "cp",
            ["-a", model.scene.sandbox.path(".").string + "/.", scene.sandbox.path(".").string]
        )
        (backup, old, new) = (model.backup, model.old, model.new)
        identities = try Self.identities(of: old, in: scene.stores)
    }

    private static func write(_ sql: String, in store: String, _ sandbox: Sandbox) throws {
        try StoreApplication(on: sandbox.path("Stores/\(store)"), "PRAGMA journal_mode = WAL", sql)
            .kill()
        // As a loss of power leaves it: the index of the log is not kept.
        try LocalFileSystem().remove(sandbox.path("Stores/\(store)-shm"))
    }

    // MARK: - States

    static func state(of directory: FilePath) throws -> State {
        var state: State = [:]
        for var item in try Contents(of: directory).items {
            if item.kind == .directory { item.modified = 0 }
            state[item.path] = item
        }
        return state
    }

    /// Whether a path changes places, by what a person expects.
    private static func isNamed(_ path: RelativePath) -> Bool {
        let text = path.description
        return text.hasPrefix(store)
            || ["photos", "albums"].contains(path.components[0].description)
            || ["shelf/book", "\(external)/other", "\(external)/back"].contains(text)
    }

    private static func merged(_ old: State, with backup: State) -> State {
        var state = old.filter { path, _ in
            !isNamed(path) || path.name.description.hasSuffix(".tmp")
        }
        for (path, item) in backup where isNamed(path) { state[path] = item }
        return state
    }

    private static func identities(
        of state: State,
        in stores: FilePath
    ) throws -> [RelativePath: FileInfo.Identity] {
        var identities: [RelativePath: FileInfo.Identity] = [:]
        for path in state.keys where !isNamed(path) || path.name.description.hasSuffix(".tmp") {
            identities[path] = try FileInfo(of: path.below(stores)).identity
        }
        return identities
    }

    /// Expects the old part or the new one, and all else to be the very same files.
    ///
    /// - Returns: whether it is the new one.
    @discardableResult
    func expectWhole(_ what: String, isNew: Bool? = nil, leaving: Set<String> = []) throws -> Bool {
        var now = try Self.state(of: scene.stores)
        let area = StoresDirectory.restoreArea
        let left = Set(
            now.keys.filter { $0.components[0] == area && $0.components.count == 2 }
                .map(\.name.description)
        )
        #expect(left.isSubset(of: leaving), "\(what)")
        let isThere = now.keys.contains { $0.components[0] == area }
        #expect(isThere == !left.isEmpty, "\(what): the area is empty and still there")
        now = now.filter { $0.key.components[0] != area }
        let difference = Set(now.values.map(\.description))
            .symmetricDifference((now == old ? old : new).values.map(\.description)).sorted()
        #expect(now == old || now == new, "\(what): \(difference.joined(separator: "\n"))")
        let there = try Self.identities(of: now, in: scene.stores)
        #expect(there == identities, "\(what): other files are there")
        #expect(try scene.leftovers() == [], "\(what)")
        if let isNew { #expect((now == new) == isNew, "\(what)") }
        return now == new
    }

    // MARK: - Restores

    @discardableResult
    func restore(
        _ names: [String] = names,
        from name: String? = nil,
        through fileSystem: any FileSystem = LocalFileSystem(),
        _ change: (inout RestoreBackup.Options) -> Void = { _ in }
    ) async throws -> RestoreBackup.Outcome {
        try await scene.restore(name ?? backup.name, fileSystem: fileSystem) {
            $0.only = names
            change(&$0)
        }
    }

    /// Restores with as little as that takes: to look through the open files of all processes takes most of
    /// the time.
    func restoreQuickly(
        through fileSystem: any FileSystem,
        _ change: (inout RestoreBackup.Options) -> Void = { _ in }
    ) async throws {
        try await restore(through: fileSystem) {
            $0.makesSafetyBackup = false
            $0.force = true
            change(&$0)
        }
    }

    /// The rows of a store, read on a copy: to open it changes what is beside it.
    func rows(_ sql: String, in store: String) throws -> String {
        let sandbox = try Sandbox()
        for suffix in ["", "-wal"] where scene.sandbox.exists("Stores/\(store)\(suffix)") {
            try sandbox.write(scene.sandbox.read("Stores/\(store)\(suffix)"), to: "s\(suffix)")
        }
        return try Tool.check("sqlite3", [sandbox.path("s").string, sql])
    }
}
