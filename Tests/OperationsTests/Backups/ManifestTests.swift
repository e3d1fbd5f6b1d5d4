import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Archives
@testable import Backups
@testable import Operations

@Suite("Manifests")
struct ManifestTests {
    /// An archive, and the lines of its manifest, which may be changed.
    private struct Subject {
        let scene: Scene
        let archive: String
        let lines: [[UInt8]]
        private let mutation: ArchiveMutation

        init() async throws {
            scene = try Scene()
            archive = try await scene.backUp().backup.name
            let bytes = try scene.sandbox.read("Remote/\(archive)")
            let path = scene.remotePath.appending(archive)
            let reader = try ArchiveReader.open(path, mark: .init(path: Manifest.path))
            mutation = try ArchiveMutation(reader, bytes)
            lines = try #require(mutation.manifest).utf8.split(
                separator: UInt8(ascii: "\n"),
                omittingEmptySubsequences: false
            ).map(Array.init)
        }

        /// Writes it with other lines.
        func write(_ lines: [[UInt8]]) throws {
            var text: [UInt8] = []
            for line in lines { text += line + [UInt8(ascii: "\n")] }
            let bytes = mutation.repacked(Array(text.dropLast()))
            try scene.sandbox.write(bytes, to: "Remote/\(archive)")
        }

        /// Restores it with other lines.
        func restore(_ lines: [[UInt8]]) async throws {
            try write(lines)
            try await scene.restore { $0.makesSafetyBackup = false }
        }

        /// Writes it with more at the beginning of the header, unless that is there already.
        func write(_ more: String, stores: String) throws {
            let header = String(decoding: lines[0], as: UTF8.self)
            let edited = header.replacing(
                /"stores":\[.*\],"tool"/,
                with: "\"stores\":[\(stores)],\"tool\""
            )
            #expect(edited != header)
            var lines = lines
            lines[0] = Array("{\(more)\(edited.dropFirst())".utf8)
            try write(lines)
        }
    }

    private static func store(_ path: String, rows: Int64...) -> String {
        store(path, rows: rows)
    }

    private static func store(_ path: String, rows: [Int64]) -> String {
        let tables = rows.enumerated().map { "{\"name\":\"t\($0)\",\"rows\":\($1)}" }
        return """
            {"path":"\(path)","kind":"sqlite","page_size":4096,"page_count":2,"journal_mode":"wal",\
            "user_version":0,"application_id":0,"tables":[\(tables.joined(separator: ","))]}
            """
    }

    /// Additions to a line that leave everything else right.
    private static func blanks(_ megabytes: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: " "), count: megabytes << 20)
    }

    @Test("A manifest with a record that is too long is refused")
    func longRecord() async throws {
        let subject = try await Subject()
        for (megabytes, isRead) in [(1, true), (2, false)] {
            var lines = subject.lines
            lines[1] = Self.blanks(megabytes) + lines[1]
            if isRead {
                try await subject.restore(lines)
                continue
            }
            let error = await #expect(throws: RestoreError.self) {
                try await subject.restore(lines)
            }
            #expect(error?.description.contains("a line is too long") == true, "\(error as Any)")
            #expect(try subject.scene.leftovers() == [])
        }
    }

    @Test("A manifest may say much about stores and problems, as a small archive may")
    func longHeaderAndTrailer() async throws {
        let subject = try await Subject()
        var lines = subject.lines
        lines[0].insert(contentsOf: Self.blanks(3), at: 1)
        try await subject.restore(lines)
        lines = subject.lines
        let last = lines.count - 2
        #expect(lines[last].starts(with: "],".utf8))
        lines[last].insert(contentsOf: Self.blanks(3), at: 2)
        try await subject.restore(lines)
        // Though not without end.
        lines[last].insert(contentsOf: Self.blanks(Manifest.lineLimit >> 20), at: 2)
        let error = await #expect(throws: RestoreError.self) { try await subject.restore(lines) }
        #expect(error?.description.contains("a line is too long") == true, "\(error as Any)")
    }

    @Test(
        "A first line that no honest backup has is refused at a glance, and nothing of it is kept"
    )
    func plantedHeader() async throws {
        // A small archive has a short line, even if it is deflated well.
        #expect(Manifest.headerLimit(archive: 65_000) < 5 << 20)
        #expect(Manifest.headerLimit(archive: .max) == Manifest.headerLimit)
        for (more, reason) in [
            (#""x":[\#(String(repeating: "0,", count: 8 << 20))0],"#, "its first line is longer"),
            (#""origin":"\#(String(repeating: "a", count: 1 << 20))","#, "a text in its first"),
        ] {
            let subject = try await Subject()
            let scene = subject.scene
            var lines = subject.lines
            let header = String(decoding: lines[0], as: UTF8.self)
                .replacing(/"origin":"[^"]*",/, with: "")
            lines[0] = Array("{\(more)\(header.dropFirst())".utf8)
            try subject.write(lines)
            let listed = try #require(try await scene.list().first)
            #expect(listed.isUnreadable)
            let error = await #expect(throws: (any Error).self) {
                try await ShowBackup(in: scene.folder(), context: scene.context())
                    .run(subject.archive)
            }
            #expect(explain(try #require(error)).contains(reason), "\(error as Any)")
        }
    }

    @Test("A first line has the sums of very many tables, and no backup has more stores than fit")
    func manyTables() throws {
        func header(stores: Int, tables: Int) throws -> ManifestHeader {
            let rows = [Int64](repeating: 2, count: tables)
            let store = Self.store("a.db", rows: rows)
            let facts = try Manifest.decoder.decode(StoreFacts.self, from: Data(store.utf8))
            return ManifestHeader(
                id: .random(),
                created: "",
                tool: "",
                reason: nil,
                root: .init(mode: 0o755, owner: 0, group: 0),
                stores: [StoreFacts](repeating: facts, count: stores)
            )
        }
        let few = try ManifestWriter.line(of: header(stores: 10, tables: 100))
        #expect(String(decoding: few, as: UTF8.self).contains(#"{"name":"t99","rows":2}]"#))
        let many = try ManifestWriter.line(of: header(stores: 400, tables: 1000))
        let sums = #""tables":[{"name":"(1000 tables)","rows":2000}]"#
        #expect(String(decoding: many, as: UTF8.self).split(separator: sums).count == 401)
        let error = #expect(throws: ArchivedBackupError.self) {
            try ManifestWriter.line(of: header(stores: 100_000, tables: 0))
        }
        #expect(error?.description == "one backup cannot describe 100000 stores")
        #expect(error?.hint?.contains("--stores DIR") == true)
    }

    @Test("A manifest lists as many problems as can be read again, and counts the others")
    func manyProblems() throws {
        let problem = Problem(kind: .unreadable, path: "a\u{1}b", reason: "permission denied")
        let few = [Problem](repeating: problem, count: 1000)
        #expect(ManifestWriter.fitting(few) == few)
        let many = [Problem](
            repeating: Problem(
                kind: .unreadable,
                path: String(repeating: "\u{1}", count: 4000),
                reason: "permission denied"
            ),
            count: 10_000
        )
        let fitting = ManifestWriter.fitting(many)
        let trailer = ManifestTrailer(problems: fitting, entries: 1, bytes: 1, content: "")
        let size = try JSONEncoder().encode(trailer).count
        #expect(size > Manifest.lineLimit / 2 && size < Manifest.lineLimit)
        let left = many.count - fitting.count
        #expect(fitting.last?.reason == "permission denied; and \(left) more that are not listed")
    }

    @Test("A manifest may count impossibly many rows, and the next backup is still made")
    func absurdRows() async throws {
        let most = Int64.max
        let name = GroceryStore.fileName
        for (more, stores, isLess) in [
            ("", Self.store(name, rows: most, most), true),
            ("", Self.store(name, rows: most) + "," + Self.store("b.db", rows: most), true),
            ("", Self.store(name, rows: most) + "," + Self.store(name, rows: most), true),
            // That few are no rows at all, and so it is not known how many there were.
            ("", Self.store(name, rows: .min, -5), false),
            ("", Self.store(name, rows: -30, 20), false),
            (
                #""expected_rows":[{"path":"\#(name)","rows":-5}],"#, Self.store(name, rows: 1),
                false
            ),
            (
                #""expected_rows":[{"path":"\#(name)","rows":\#(most)},{"path":"\#(name)","rows":\#(most)}],"#,
                Self.store(name, rows: 1), true
            ),
        ] {
            let subject = try await Subject()
            try subject.write(more, stores: stores)
            let scene = subject.scene
            let next = try await scene.backUp(at: Scene.morning + 60)
            #expect(next.backup.isAnomalous == isLess, "\(more)\(stores)")
            // With the backup before it, which is compared too.
            try await scene.restore(subject.archive) {
                $0.backup.date = Scene.morning + 120
            }
            #expect(try await scene.list().count == 3)
        }
    }

    @Test("A manifest of a newer version may have kinds of problem that this version does not know")
    func newKinds() async throws {
        let subject = try await Subject()
        let scene = subject.scene
        var lines = subject.lines
        let header = String(decoding: lines[0], as: UTF8.self)
        let anomalies =
            #""anomalies":[{"kind":"fewer_wishes","path":"a.db","before":2,"now":1}],"expected_rows":[],"#
        lines[0] = Array("{\(anomalies)\(header.dropFirst())".utf8)
        let last = lines.count - 2
        let trailer = String(decoding: lines[last], as: UTF8.self)
        let problems =
            #""problems":[{"kind":"too_heavy","path":"a","reason":"it weighs too much"},{"kind":"unreadable","path":"b","reason":"no"}]"#
        lines[last] = Array(trailer.replacing(#""problems":[]"#, with: problems).utf8)
        #expect(lines[last] != subject.lines[last])
        try subject.write(lines)
        let listed = try #require(try await scene.list().first)
        #expect(listed.isAnomalous && !listed.isUnreadable)
        let shown = try await ShowBackup(
            in: scene.folder(),
            context: scene.context()
        ).run(subject.archive)
        #expect(shown.problems.map(\.description) == ["'a': it weighs too much", "'b': no"])
        // They are reported as they were found.
        let text = try JSONEncoder().encode(shown.problems)
        #expect(String(decoding: text, as: UTF8.self).contains(#""kind":"too_heavy""#))
        #expect(shown.problems.last?.kind == .unreadable)
        let check = CheckBackups(
            in: scene.folder(),
            options: CheckBackups.Options(),
            context: scene.context()
        )
        #expect(try await check.run(listed, at: Scene.morning).isGood)
        try await subject.restore(lines)
        #expect(try scene.itemNames().count == 12)
    }
}
