@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveExtractor: hostile archives")
struct HostileArchiveTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
        try sandbox.directory("out")
        try sandbox.write("precious", to: "outside/file")
    }

    private func link(_ name: String, to target: String) -> CraftedZip.Entry {
        var entry = CraftedZip.Entry(name, target)
        entry.mode = 0o120777
        return entry
    }

    /// Expects that these entries are refused, and that nothing outside the target changes.
    private func refuse(_ entries: [CraftedZip.Entry], _ comment: Comment) throws {
        try LocalFileSystem().remove(sandbox.path("out"))
        try sandbox.directory("out")
        try sandbox.write(CraftedZip(entries).bytes(), to: "a.zip")
        let before = try sandbox.contents(of: "outside")
        #expect(throws: ArchiveError.self, comment) {
            try extract(ArchiveReader.open(path), into: sandbox.path("out"))
        }
        #expect(try sandbox.contents(of: "outside") == before, comment)
        #expect(try sandbox.contents().items.filter { $0.path.components.count == 1 }.count == 3)
    }

    @Test("Nothing is written through a symbolic link, relative or absolute")
    func throughLinks() throws {
        let outside = sandbox.path("outside").string
        for target in ["../outside", outside, ".", "..", "link"] {
            try refuse([link("link", to: target), .init("link/new", "x")], "file in \(target)")
            try refuse([link("link", to: target), .init("link/new/")], "directory in \(target)")
            try refuse([link("link", to: target), link("link/new", to: "x")], "link in \(target)")
            try refuse([link("link", to: target), .init("link/a/b", "x")], "below \(target)")
        }
        try refuse(
            [link("link", to: "../outside/file"), .init("link/new", "x")],
            "not a directory"
        )
        try refuse(
            [.init("d/"), link("d/link", to: "../../outside"), .init("d/link/x", "x")],
            "in d"
        )
    }

    @Test("Existing files are never replaced, and the target of a link is never written")
    func replacesNothing() throws {
        try sandbox.write("mine", to: "out/a")
        try sandbox.link("out/b", to: "../outside/file")
        let before = try sandbox.contents()
        for name in ["a", "b", "a/b", "b/c"] {
            try sandbox.write(CraftedZip([.init(name, "x")]).bytes(), to: "b.zip")
            #expect(throws: ArchiveError.self, "\(name)") {
                try extract(ArchiveReader.open(sandbox.path("b.zip")), into: sandbox.path("out"))
            }
        }
        try LocalFileSystem().remove(sandbox.path("b.zip"))
        #expect(try sandbox.contents(of: "outside").items.count == 1)
        #expect(try sandbox.contents().items.dropFirst() == before.items.dropFirst())
    }

    @Test("The same name for a file and a directory is refused, in either order")
    func fileAndDirectory() throws {
        try refuse([.init("a", "x"), .init("a/b", "y")], "file first")
        try refuse([.init("a/b", "y"), .init("a", "x")], "directory first")
    }

    @Test("Two names that mean one file are refused")
    func sameMeaning() throws {
        var dos = CraftedZip.Entry("a\\b", "x")
        dos.host = 0
        try refuse([dos, .init("a/b", "y")], "backslash")
    }

    @Test("A link without a target, with a NUL in it or too long is refused")
    func badLinks() throws {
        try refuse([link("a", to: "")], "empty")
        try refuse([link("a", to: "x\0y")], "NUL")
        try refuse([link("a", to: String(repeating: "x", count: 4097))], "long")
    }

    @Test("An entry that holds more than it declares is refused before it fills the disk")
    func bomb() throws {
        var entry = CraftedZip.Entry(deflated: "a", [UInt8](repeating: 0, count: 8 << 20))
        entry.size = 1 << 20 | 1
        try refuse([entry], "large")
        #expect(try sandbox.contents(of: "out").items.allSatisfy { $0.size <= entry.size })
        entry.size = 10
        try refuse([entry], "small")
    }

    @Test("An encrypted entry is refused")
    func encrypted() throws {
        var entry = CraftedZip.Entry("a", "milk")
        entry.flags = 1
        try refuse([entry], "encrypted")
    }
}
