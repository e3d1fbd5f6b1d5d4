import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The hostile archives")
struct HostileFixtureTests {
    private let scene: FixtureScene

    init() throws {
        scene = try FixtureScene()
    }

    /// A zip that has to be refused, with the exit code and a word of the message.
    struct Hostile: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int32
        var word: String

        init(_ name: String, _ status: Int32, _ word: String) {
            self.name = name
            self.status = status
            self.word = word
        }

        var testDescription: String { name }
    }

    static let hostile = [
        Hostile("traversal", 21, "leaves the directory"),
        Hostile("traversal-inside", 21, "leaves the directory"),
        Hostile("traversal-directory", 21, "leaves the directory"),
        Hostile("absolute", 21, "absolute path"),
        Hostile("backslash-dos", 21, "leaves the directory"),
        Hostile("backslash-unix", 21, "leaves the directory"),
        Hostile("backslash-absolute", 21, "absolute path"),
        Hostile("local-name-traversal", 21, "another name"),
        Hostile("link-through", 21, "where its directory should be"),
        Hostile("link-through-absolute", 21, "where its directory should be"),
        Hostile("link-through-later", 21, "where its directory should be"),
        Hostile("link-as-directory", 21, "'out' twice"),
        Hostile("link-to-file", 21, "'file' twice"),
        Hostile("link-huge", 21, "cannot be so long"),
        Hostile("link-empty", 21, "no target"),
        Hostile("link-nul", 21, "no target"),
        Hostile("duplicate", 21, "'same' twice"),
        Hostile("duplicate-dot", 21, "'same' twice"),
        Hostile("file-and-directory", 21, "'same' twice"),
        Hostile("file-as-directory", 21, "where its directory should be"),
        Hostile("case", 21, "the same name if case is ignored"),
        Hostile("case-directory", 21, "the same name if case is ignored"),
        Hostile("case-umlaut", 21, "the same name if case is ignored"),
        Hostile("nul", 21, "NUL"),
        Hostile("no-name", 21, "empty"),
        Hostile("dot", 21, "'.' component"),
        Hostile("double-slash", 21, "empty component"),
        Hostile("deep", 21, "201 components"),
        Hostile("overlap", 21, "overlaps"),
        Hostile("crc", 21, "CRC-32"),
        Hostile("crc-stored", 21, "CRC-32"),
        Hostile("crc-store", 21, "CRC-32"),
        Hostile("size-smaller", 21, "inflate to what it declares"),
        Hostile("size-larger", 21, "inflate to what it declares"),
        Hostile("size-smaller-stored", 21, "sizes contradict"),
        Hostile("size-larger-stored", 21, "sizes contradict"),
        Hostile("behind-data", 21, "inflate to what it declares"),
        Hostile("deflate-broken", 21, "inflate to what it declares"),
        Hostile("deflate-cut", 21, "inflate to what it declares"),
        Hostile("method", 21, "compression method"),
        Hostile("truncated", 21, "cut off"),
        Hostile("truncated-end", 21, "cut off"),
        Hostile("no-end", 21, "cut off"),
        Hostile("beginning-missing", 21, "bytes are missing"),
        Hostile("bytes-behind", 21, "added behind its end"),
        Hostile("count-larger", 21, "cannot have 9 entries"),
        Hostile("count-zero", 21, "more entries than it says"),
        Hostile("directory-outside", 21, "does not end where it says"),
        Hostile("no-entries", 21, "nothing in it"),
        Hostile("not-a-zip", 21, "not a zip archive"),
        Hostile("zip64-huge", 21, "declares more than its data can hold"),
        Hostile("zip64-beyond", 21, "beyond all bounds"),
        Hostile("zip64-sum", 21, "beyond all bounds"),
        Hostile("zip64-missing", 21, "declares more than its data can hold"),
        Hostile("bomb-10-gb", 21, "declares more than its data can hold"),
        Hostile("bomb-bzip2", 21, "more than it declares"),
        Hostile("encrypted", 12, "no password"),
        Hostile("encrypted-aes", 12, "no password"),
        Hostile("flipped-bit", 21, "SHA-256"),
        Hostile("lie-descriptor", 21, "data descriptor contradicts"),
        Hostile("lie-descriptor-flag", 21, "local record contradicts"),
        Hostile("lie-segment-missing", 21, "segments contradict"),
        Hostile("lie-segment-added", 21, "segments contradict"),
        Hostile("lie-segment-huge", 21, "segments contradict"),
        Hostile("lie-segment-negative", 21, "segments contradict"),
        Hostile("lie-segment-lengths", 21, "inflate to what it declares"),
        Hostile("lie-segment-order", 21, "inflate to what it declares"),
        Hostile("lie-segments-none", 21, "segments contradict"),
        Hostile("lie-link-segments-none", 21, "segments contradict"),
        Hostile("lie-link-segments-two", 21, "segments contradict"),
        Hostile("lie-directory-segments", 21, "segments contradict"),
        Hostile("lie-digest", 21, "'photo.bin' in"),
        Hostile("lie-digest-last", 21, "SHA-256"),
        Hostile("lie-digest-short", 21, "not what the format says"),
        Hostile("lie-digest-link", 21, "SHA-256"),
        Hostile("lie-order", 21, "contradicts the archive at"),
        Hostile("lie-size", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-size-huge", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-size-negative", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-type", 21, "contradicts the archive at 'photo.bin'"),
        Hostile("lie-path", 21, "not what the format says"),
        Hostile("lie-path-absolute", 21, "not what the format says"),
        Hostile("lie-mode", 21, "not what the format says"),
        Hostile("lie-record-missing", 21, "fewer files"),
        Hostile("lie-record-added", 21, "more files"),
        Hostile("lie-record-twice", 21, "contradicts the archive at"),
        Hostile("lie-format-0", 21, "no such format"),
        Hostile("lie-format-2", 21, "it is built on nothing"),
        Hostile("lie-format-3", 21, "archive format 3, which is newer"),
        Hostile("lie-segment-size", 21, "size of segments"),
        Hostile("lie-no-trailer", 21, "its end is missing"),
        Hostile("lie-after-trailer", 21, "something follows its end"),
        Hostile("lie-no-json", 21, "first line"),
        Hostile("lie-empty", 21, "first line"),
    ]

    @Test("Every hostile archive has its line in the table")
    func hostileAreAllTested() throws {
        let names = Self.hostile.map { "\($0.name).zip" } + ["empty.zip"]
        #expect(try Fixtures.names(in: "hostile") == Set(names))
        #expect(names.count == Set(names).count)
    }

    @Test("A hostile archive is refused, and nothing is written anywhere", arguments: hostile)
    func refuses(hostile: Hostile) throws {
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Work/Stores")
        try scene.sandbox.write("untouched", to: "Work/canary")
        let backup = "\(hostile.name) Stores.zip"
        try scene.sandbox.write(
            Fixtures.read("hostile/\(hostile.name).zip"),
            to: "Remote/\(backup)"
        )
        let places = ["Work", "Remote", "Temporary"]
        let before = try places.map { try scene.sandbox.contents(of: $0) }
        for how in ["--dry-run", "--yes"] {
            let outcome = try Tool.run(
                Tool.product("grocerydude"),
                [
                    "restore", backup, how,
                    "--stores", scene.sandbox.path("Work/Stores").string,
                    "--remote", scene.sandbox.path("Remote").string,
                ],
                environment: [
                    "HOME": scene.sandbox.path.string, "XDG_CACHE_HOME": "",
                    "TMPDIR": scene.sandbox.path("Temporary").string,
                ]
            )
            let comment: Comment = "\(how): \(outcome.errors)"
            #expect(outcome.status == hostile.status, comment)
            #expect(outcome.errors.contains(hostile.word), comment)
            #expect(outcome.errors.contains("your data is as it was"), comment)
            #expect(outcome.errors.contains("hint: "), comment)
            #expect(outcome.output.isEmpty, comment)
            // The folder keeps a note of the damage.
            try LocalFileSystem().remove(scene.sandbox.path("Remote/.grocerydude-notes"))
            #expect(try places.map { try scene.sandbox.contents(of: $0) } == before, comment)
        }
        #expect(try FileInfo.ifPresent("/tmp/grocerydude-evil") == nil)
    }

    @Test("A list includes hostile archives like all others, and continues")
    func listsHostile() throws {
        for name in try Fixtures.names(in: "hostile") {
            let backup = name.replacingOccurrences(of: ".zip", with: " Stores.zip")
            try scene.sandbox.write(Fixtures.read("hostile/\(name)"), to: "Remote/\(backup)")
        }
        let list = try scene.run("list", "--verbose")
        #expect(list.status == 0, "\(list.errors)")
        let lines = list.text.split(separator: "\n").dropFirst()
        #expect(lines.count { !$0.hasPrefix("    ") } == Self.hostile.count)
        // An empty one is none: other programs hold a place by it.
        #expect(list.errors.contains("it is empty"), "\(list.errors)")
        #expect(try scene.run("restore", "empty", "--yes", stores: "Work/Stores").status == 10)
    }
}
