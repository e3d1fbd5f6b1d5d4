import CSQLite
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// Databases, logs and journals that something happened to, read as live stores: what is read is
/// what SQLite itself reads, or an error; no byte of the directory changes, and nothing crashes.
@Suite("A mutated store")
struct StoreMutationTests {
    let sandbox: Sandbox
    let scratch: FilePath

    init() throws {
        sandbox = try Sandbox()
        scratch = try sandbox.directory("Scratch")
    }

    /// Databases as an application leaves them, with what SQLite keeps beside them.
    private func files(_ fixture: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try Fixtures.names(in: "stores/\(fixture)") where !name.hasSuffix("_SUPPORT") {
            files[name] = try Fixtures.read("stores/\(fixture)/\(name)")
        }
        return files
    }

    private func write(_ files: [String: [UInt8]], to directory: String) throws {
        try LocalFileSystem().remove(sandbox.path(directory))
        try sandbox.directory(directory)
        for (name, bytes) in files { try sandbox.write(bytes, to: "\(directory)/\(name)") }
    }

    /// What SQLite reads from a copy that it may write to, as `sqlite3_backup_step` gives it; `nil`
    /// where that is an error.
    private func reference(_ files: [String: [UInt8]], _ name: String) throws -> [UInt8]? {
        try write(files, to: "Reference")
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        let path = sandbox.path("Reference/\(name)")
        guard sqlite3_open(path.string, &handle) == SQLITE_OK, let handle,
            sqlite3_exec(handle, "BEGIN; SELECT 1 FROM sqlite_master", nil, nil, nil) == SQLITE_OK
        else { return nil }
        var target: OpaquePointer?
        defer { sqlite3_close(target) }
        let copy = sandbox.path("Reference/copy")
        #expect(sqlite3_open(copy.string, &target) == SQLITE_OK)
        guard let backup = sqlite3_backup_init(target, "main", handle, "main") else { return nil }
        let step = sqlite3_backup_step(backup, -1)
        guard sqlite3_backup_finish(backup) == SQLITE_OK, step == SQLITE_DONE else { return nil }
        return try sandbox.read("Reference/copy")
    }

    @Test(
        "is read as SQLite reads it, or not at all",
        arguments: ["log", "log-without-index", "journal", "core-data"]
    )
    func mutated(fixture: String) throws {
        let whole = try files(fixture)
        let name = try #require(whole.keys.first { $0.hasSuffix(".sqlite") })
        let seeds = Fuzzing(usual: 60)
        var verdicts: [String: Int] = [:]
        for seed in seeds {
            var random = Pseudorandom(seed: seed)
            var changed = whole
            let victim = random.pick(whole.keys.sorted())
            var bytes = whole[victim] ?? []
            // Headers are small, and say how to read the rest.
            let region = random.below(2) == 0 ? 0..<min(bytes.count, 200) : nil
            let label =
                "\(fixture), seed \(seed), \(victim): \(random.damage(&bytes, within: region))"
            changed[victim] = bytes
            try write(changed, to: "Stores")
            let before = try sandbox.contents(of: "Stores")
            let verdict = try verdict(name, changed, label)
            verdicts[verdict, default: 0] += 1
            #expect(try sandbox.contents(of: "Stores") == before, "\(label)")
            #expect(try Directory.open(scratch).names() == [], "\(label)")
        }
        seeds.report("store '\(fixture)'", verdicts)
    }

    private func verdict(
        _ name: String,
        _ files: [String: [UInt8]],
        _ label: String
    ) throws -> String {
        let survey = try StoresDirectory(sandbox.path("Stores")).survey()
        guard let store = survey.stores.first(where: { $0.path.description == name }) else {
            #expect(!(files[name] ?? []).starts(with: Array("SQLite format 3\0".utf8)), "\(label)")
            return "no database"
        }
        // What does not look like SQLite's own is a file like others, and not the store's.
        let own = files.filter { file in
            survey.storeFiles.contains { $0.description == file.key }
        }
        let expected = try reference(own, name)
        do {
            let snapshot = try store.snapshot(scratch: scratch)
            _ = try snapshot.report(hasSupportDirectory: true)
            _ = try snapshot.findings(.full)
            // What is behind the last page is saved, and is nothing to SQLite.
            let pages = Int64(snapshot.pageSize) * snapshot.pageCount
            let bytes = Array(try snapshot.bytes().prefix(Int(pages)))
            guard let expected else { return "read, and SQLite does not" }
            let isSame = Self.isSame(bytes, expected)
            #expect(isSame, "\(label)")
            return "as SQLite reads it"
        } catch is StoreError {
            return expected == nil ? "refused, as SQLite does" : "refused, and SQLite reads it"
        }
    }

    /// Equal but for what a backup writes again; see `expectSamePages`.
    private static func isSame(_ bytes: [UInt8], _ reference: [UInt8]) -> Bool {
        var (bytes, reference) = (bytes, reference)
        guard bytes.count == reference.count, bytes.count >= 100 else { return bytes == reference }
        // The count of pages is of no meaning where the change counter is not the one that it is for; SQLite
        // then goes by the file's size, and its backup sets it right (https://www.sqlite.org/fileformat2.html, 1.3.8).
        let hasCount = bytes[24..<28] == bytes[92..<96]
        for index in [24..<28, hasCount ? 0..<0 : 28..<32, 40..<44, 92..<100].joined() {
            (bytes[index], reference[index]) = (0, 0)
        }
        return bytes == reference
    }
}
