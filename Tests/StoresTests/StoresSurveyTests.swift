internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("A survey of a stores directory")
struct StoresSurveyTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// Files in directories of one, of some and of many, of which every hundredth is a store.
    private func fill() throws -> Set<String> {
        var stores: Set<String> = []
        for number in 0..<1_500 {
            let some = number < 600 ? "some-\(number % 60)" : "many"
            let directory = number < 300 ? "\(number)" : some
            try sandbox.directory("Stores/\(directory)")
            let path = "\(directory)/file-\(number)"
            let isStore = number % 100 == 7
            let text = isStore ? "SQLite format 3\0 and no more" : "SQLite format 2\0 and no more"
            try sandbox.write(Array(text.utf8), to: "Stores/\(path)")
            if isStore { stores.insert(path) }
        }
        try sandbox.write([], to: "Stores/many/file-607-wal")
        return stores
    }

    @Test("finds the same with any number of threads, in a walk's order", arguments: [1, 2, 5])
    func threads(count: Int) throws {
        let expected = try fill()
        let directory = try StoresDirectory(sandbox.path("Stores"))
        let survey = try directory.survey(threads: count)
        #expect(Set(survey.stores.map(\.path.description)) == expected)
        #expect(survey.stores.count == expected.count)
        #expect(survey.stores.map(\.path) == (try directory.survey()).stores.map(\.path))
        #expect(survey.fileCount == 300 + 60 + 1 + 1_501)
        #expect(survey.failures.isEmpty)
        let wal = try RelativePath("many/file-607-wal")
        #expect(survey.storeFiles.subtracting(survey.stores.map(\.path)) == [wal])
    }

    @Test("can be stopped between any two files, threads at work", arguments: [1, 200, 1_400])
    func stopped(after count: Int) throws {
        struct Stop: Error {}
        _ = try fill()
        var asked = 0
        #expect(throws: Stop.self) {
            try StoresDirectory(sandbox.path("Stores")).survey(
                threads: 3,
                isCancelled: {
                    asked += 1
                    if asked > count { throw Stop() }
                }
            )
        }
    }
    /// A journal is removed and made again with each transaction.
    ///
    /// Here the walk's handle of the directory shows none, and the path shows one.
    @Test(
        "finds a store once whose journal comes and goes",
        arguments: ["SQLite format 3\0", "noise"]
    )
    func journal(beginning: String) throws {
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        let files = LocalFileSystem()
        func make() throws {
            try sandbox.write(Array((beginning + " and more").utf8), to: "Stores/in/a.db")
            try sandbox.write(magic, to: "Stores/in/a.db-journal")
            try sandbox.write([], to: "Stores/in/a.db-wal")
        }
        try make()
        let survey = try StoresDirectory(sandbox.path("Stores")).survey { file in
            guard file.path.description == "in/a.db-wal" else { return false }
            try FileManager.default.moveItem(
                atPath: sandbox.path("Stores/in").string,
                toPath: sandbox.path("away").string
            )
            for name in ["a.db-journal", "a.db-wal"] {
                try files.remove(sandbox.path("away/\(name)"))
            }
            try make()
            return false
        }
        let paths = try ["in/a.db", "in/a.db-journal", "in/a.db-wal"].map { try RelativePath($0) }
        #expect((survey.stores + survey.foreign).map(\.path) == [paths[0]])
        #expect(survey.storeFiles.union(survey.foreignFiles) == Set(paths))
    }
}
