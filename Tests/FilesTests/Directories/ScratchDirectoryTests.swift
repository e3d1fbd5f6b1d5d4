internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ScratchDirectory")
struct ScratchDirectoryTests {
    @Test("it is fresh, private, and gone with its last reference")
    func lives() throws {
        let sandbox = try Sandbox()
        do {
            let scratch = try ScratchDirectory(in: sandbox.path)
            let other = try ScratchDirectory(in: sandbox.path)
            #expect(scratch.path != other.path)
            #expect(scratch.path.removingLastComponent() == sandbox.path)
            #expect(try FileInfo(of: scratch.path).mode == 0o700)
            try Directory.open(scratch.path).createDirectory("full")
            _ = try File.create(scratch.path.appending("full/file"))
            #expect(try sandbox.contents().paths.count == 4)
        }
        #expect(try sandbox.contents().paths.isEmpty)
    }

    @Test("what a killed run left goes with the next one, and nothing else does")
    func abandoned() throws {
        let sandbox = try Sandbox()
        try sandbox.write("left", to: ".grocerydude-scratch.aB3xYz/copy.sqlite")
        for name in [
            ".grocerydude-scratch.short", ".grocerydude-scratch.seven77", "grocerydude.backup",
        ] {
            try sandbox.write("mine", to: "\(name)/file")
        }
        try sandbox.write("a file", to: ".grocerydude-scratch.aFile1")
        let used = try ScratchDirectory(in: sandbox.path)
        let other = try ScratchDirectory(in: sandbox.path)
        #expect(try FileInfo(of: used.path).kind == .directory)
        #expect(used.path != other.path)
        #expect(!sandbox.exists(".grocerydude-scratch.aB3xYz"))
        #expect(sandbox.exists(".grocerydude-scratch.short/file"))
        #expect(sandbox.exists(".grocerydude-scratch.seven77/file"))
        #expect(sandbox.exists("grocerydude.backup/file"))
        #expect(sandbox.exists(".grocerydude-scratch.aFile1"))
    }

    @Test("where it cannot be made, the error says where")
    func missingParent() throws {
        let sandbox = try Sandbox()
        let template = sandbox.path("missing/.grocerydude-scratch.XXXXXX")
        #expect(throws: FileError.failed(.create, template, .noSuchFileOrDirectory)) {
            try ScratchDirectory(in: sandbox.path("missing"))
        }
    }
}
