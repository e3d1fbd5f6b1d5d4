internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("RelativePath")
struct RelativePathTests {
    @Test(
        "what could lead out of a directory, or cannot be a name, is refused with its reason",
        arguments: [
            ("", "it is empty"),
            ("/", "it is an absolute path"),
            ("/etc/passwd", "it is an absolute path"),
            ("a\0b", "it has a NUL in it"),
            ("a//b", "it has an empty component"),
            ("a/", "it has an empty component"),
            (".", "it has a '.' component"),
            ("a/./b", "it has a '.' component"),
            ("..", "it leaves the directory with '..'"),
            ("../a", "it leaves the directory with '..'"),
            ("a/../../b", "it leaves the directory with '..'"),
            ("a/..", "it leaves the directory with '..'"),
            (String(repeating: "n", count: 256), "it has a component of more than 255 bytes"),
        ]
    )
    func refusals(text: String, reason: String) {
        #expect(throws: FileError.unsafeName(printable(bytes: text.utf8), reason: reason)) {
            try RelativePath(text)
        }
    }

    @Test("no two paths are printed alike, and what is printed is the path again")
    func printed() throws {
        let names: [[UInt8]] =
            [
                "x\ty", "x\\u{9}y", "x\\\\u{9}y", "a\nb", "a\\nb", "C:\\x", "é", "e\u{301}",
                "\u{202E}x",
            ].map { Array($0.utf8) } + [[0xFF], Array("\\xFF".utf8), [0x5C, 0xFF, 0x09], [0x5C]]
        let paths = try names.map { try RelativePath(validating: $0) }
        #expect(Set(paths.map { Array($0.description.utf8) }).count == names.count)
        for path in paths { #expect(RelativePath(printed: path.description) == path) }
        for text in ["\\", "\\b", "\\x9", "\\u{110000}", "\\u{9", "/", "a/../b"] {
            #expect(RelativePath(printed: text) == nil, "\(text)")
        }
    }

    @Test(
        "names that only look like trouble are taken",
        arguments: [
            "...", "..a", "a..", ".a", "a/...", "\\", "C:\\a", "a\nb", " ", "~", "-rf", "*",
            String(repeating: "n", count: 255),
        ]
    )
    func harmless(text: String) throws {
        #expect(try RelativePath(text).bytes == Array(text.utf8))
    }

    @Test("a name may hold every byte but NUL and a slash")
    func anyBytes() throws {
        for byte in UInt8(1)...255 where byte != UInt8(ascii: "/") {
            let bytes = [UInt8(ascii: "x"), byte]
            #expect(try RelativePath(validating: bytes).bytes == bytes)
        }
    }

    @Test("a path comes apart into its components and goes together again")
    func components() throws {
        let path = try RelativePath("a/b/c")
        #expect(path.components == ["a", "b", "c"])
        #expect(path.name == "c")
        #expect(try path.parent == RelativePath("a/b"))
        #expect(try RelativePath("a").parent == nil)
        #expect(path.ancestors.map(\.description) == ["a", "a/b"])
        #expect(try RelativePath("a/b").appending("c") == path)
        #expect(RelativePath(name: "c") == (try RelativePath("c")))
    }

    @Test("a path that is not UTF-8 keeps its bytes below a directory")
    func belowDirectory() throws {
        let path = try RelativePath(validating: [0x61, 0x2F, 0xFF])
        let below = path.below("/tmp")
        let bytes = below.withPlatformString { start in
            (0..<below.length).map { UInt8(bitPattern: start[$0]) }
        }
        #expect(bytes == Array("/tmp/a/".utf8) + [0xFF])
    }

    @Test("paths are ordered by their bytes, parents first")
    func order() throws {
        let sorted = ["A", "a", "a.b", "a/b", "ab", "é"]
        #expect(
            try sorted.shuffled().map { try RelativePath($0) }.sorted().map(\.description) == sorted
        )
    }

    @Test("a name takes text and bytes at its end")
    func suffixes() throws {
        let store: FileName = "store.sqlite"
        #expect(store.appending("-wal") == "store.sqlite-wal")
        #expect(store.appending([UInt8(ascii: "-"), 0xFF][...]).bytes.last == 0xFF)
    }
}
