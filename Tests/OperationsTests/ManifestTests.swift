import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Archives
@testable import Operations

@Suite("A manifest")
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
            let reader = try ArchiveReader.open(path, mark: ManifestPlace.path)
            mutation = try ArchiveMutation(reader, bytes)
            lines = try #require(mutation.manifest).utf8.split(
                separator: UInt8(ascii: "\n"),
                omittingEmptySubsequences: false
            ).map(Array.init)
        }

        /// Restores it with other lines.
        func restore(_ lines: [[UInt8]]) async throws {
            var text: [UInt8] = []
            for line in lines { text += line + [UInt8(ascii: "\n")] }
            let bytes = mutation.repacked(Array(text.dropLast()))
            try scene.sandbox.write(bytes, to: "Remote/\(archive)")
            try await scene.restore { $0.makesSafetyBackup = false }
        }
    }

    /// What a line may have more of without anything else being wrong with it.
    private static func blanks(_ megabytes: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: " "), count: megabytes << 20)
    }

    @Test("with a record that is longer than any has to be is refused")
    func longRecord() async throws {
        let subject = try await Subject()
        for (megabytes, isRead) in [(1, true), (2, false)] {
            var lines = subject.lines
            lines[1] = Self.blanks(megabytes) + lines[1]
            if isRead {
                try await subject.restore(lines)
                continue
            }
            let error = await #expect(throws: OperationError.self) {
                try await subject.restore(lines)
            }
            #expect(error?.description.contains("a line is too long") == true, "\(error as Any)")
            #expect(try subject.scene.leftovers() == [])
        }
    }

    @Test("may have much to say of its stores and of what was wrong, as a small archive may")
    func longHeaderAndTrailer() async throws {
        let subject = try await Subject()
        var lines = subject.lines
        lines[0].insert(contentsOf: Self.blanks(4), at: 1)
        try await subject.restore(lines)
        lines = subject.lines
        let last = lines.count - 2
        #expect(lines[last].starts(with: "],".utf8))
        lines[last].insert(contentsOf: Self.blanks(4), at: 2)
        try await subject.restore(lines)
        // Though not without end.
        lines[last].insert(contentsOf: Self.blanks(ManifestPlace.trailerLimit >> 20), at: 2)
        let error = await #expect(throws: OperationError.self) { try await subject.restore(lines) }
        #expect(error?.description.contains("a line is too long") == true, "\(error as Any)")
    }

    @Test("lists as many problems as can be read again, and says how many more there were")
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
        let trailer = ManifestTrailer(problems: fitting, entries: 1, bytes: 1, content: nil)
        let size = try JSONEncoder().encode(trailer).count
        #expect(size > ManifestPlace.trailerLimit / 2 && size < ManifestPlace.trailerLimit)
        let left = many.count - fitting.count
        #expect(fitting.last?.reason == "permission denied; and \(left) more that are not listed")
    }
}
