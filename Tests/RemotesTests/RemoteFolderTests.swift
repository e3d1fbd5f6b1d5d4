internal import Files
internal import Remotes
internal import SystemPackage
internal import TestSupport
internal import Testing

/// An implementation of `RemoteFolder` over a directory, so that a test can look behind it.
enum Implementation: String, CaseIterable, Sendable {
    case local, rclone

    /// rclone is left out where it is not installed.
    static let available = allCases.filter { $0 != .rclone || Tool.isInstalled("rclone") }

    func folder(_ path: FilePath) -> any RemoteFolder {
        switch self {
        case .local: LocalFolder(path)
        case .rclone: RcloneFolder(path.string)
        }
    }

    /// Where a file is best made that is to be uploaded.
    func staging(_ path: FilePath, _ other: FilePath) -> FilePath { self == .local ? path : other }
}

/// What `RemoteFolder` promises; every implementation is held to it.
@Suite("RemoteFolder")
struct RemoteFolderTests {
    let sandbox: Sandbox
    let remote: FilePath
    let staging: FilePath

    init() throws {
        sandbox = try Sandbox()
        remote = try sandbox.directory("Apps/Grocery Dude")
        staging = try sandbox.directory("staging")
    }

    private static let name = "[2026-Nov-21] 09.01 AM Stores.zip"

    private func folder(_ implementation: Implementation) -> any RemoteFolder {
        implementation.folder(remote)
    }

    /// A file that is ready to be uploaded.
    private func draft(_ text: String, for implementation: Implementation) throws -> FilePath {
        let path = implementation.staging(remote, staging).appending(".grocerydude-1.partial")
        let file = try File.create(path)
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        return path
    }

    @Test(
        "An uploaded file is listed and read at once, and is gone from its old place",
        arguments: Implementation.available,
        [true, false]
    )
    func uploads(implementation: Implementation, isStaged: Bool) async throws {
        let folder = folder(implementation)
        let file =
            try isStaged
            ? draft("milk", for: implementation) : sandbox.write("milk", to: "elsewhere")
        let uploaded = try await folder.upload(file, as: Self.name)
        let listed = try await folder.list()
        #expect(listed.map(\.location) == [uploaded.location])
        #expect(listed.map(\.name) == [Self.name])
        #expect(listed.map(\.size) == [4])
        let target = sandbox.path("downloaded")
        try await folder.download(Self.name, to: target)
        #expect(try sandbox.read("downloaded") == Array("milk".utf8))
        #expect(try FileInfo.ifPresent(file) == nil)
        #expect(try sandbox.contents(of: "Apps/Grocery Dude").paths == [Self.name])
        if let location = listed[0].location {
            #expect(try File.open(location).readExactly(count: 4, at: 0) == Array("milk".utf8))
        }
    }

    @Test("An upload never overwrites a file", arguments: Implementation.available, [true, false])
    func overwritesNothing(implementation: Implementation, isStaged: Bool) async throws {
        let folder = folder(implementation)
        try sandbox.write("first", to: "Apps/Grocery Dude/\(Self.name)")
        let file =
            try isStaged
            ? draft("other", for: implementation) : sandbox.write("other", to: "elsewhere")
        await #expect(throws: RemoteError.exists(folder.address, name: Self.name)) {
            try await folder.upload(file, as: Self.name)
        }
        #expect(try sandbox.read("Apps/Grocery Dude/\(Self.name)") == Array("first".utf8))
        #expect(try File.open(file).readExactly(count: 5, at: 0) == Array("other".utf8))
        // Nothing of a copy is left behind.
        let left = try await folder.list().map(\.name).filter { $0 != file.lastComponent?.string }
        #expect(left == [Self.name])
    }

    @Test("A download never replaces a file of this machine", arguments: Implementation.available)
    func downloadOverwritesNothing(implementation: Implementation) async throws {
        let folder = folder(implementation)
        try sandbox.write("remote", to: "Apps/Grocery Dude/\(Self.name)")
        let target = try sandbox.write("mine", to: "target")
        await #expect(throws: FileError.exists(target)) {
            try await folder.download(Self.name, to: target)
        }
        #expect(try sandbox.read("target") == Array("mine".utf8))
    }

    @Test(
        "A deletion removes a file, and accepts a missing one",
        arguments: Implementation.available
    )
    func deletes(implementation: Implementation) async throws {
        let folder = folder(implementation)
        try sandbox.write("a", to: "Apps/Grocery Dude/\(Self.name)")
        try sandbox.write("b", to: "Apps/Grocery Dude/other.zip")
        try await folder.delete(Self.name)
        try await folder.delete(Self.name)
        try await folder.delete("never was.zip")
        #expect(try await folder.list().map(\.name) == ["other.zip"])
    }

    @Test(
        "A download of a missing file fails and leaves nothing",
        arguments: Implementation.available
    )
    func downloadsMissing(implementation: Implementation) async throws {
        let folder = folder(implementation)
        await #expect(throws: RemoteError.noFile(folder.address, name: "no.zip")) {
            try await folder.download("no.zip", to: sandbox.path("target"))
        }
        #expect(!sandbox.exists("target"))
    }

    @Test(
        "A folder lists all files, including hidden ones, and nothing else",
        arguments: Implementation.available
    )
    func lists(implementation: Implementation) async throws {
        let folder = folder(implementation)
        #expect(try await folder.list().isEmpty)
        let names = [".hidden", "Übung 🥖.zip", "a 'b' \"c\" {d} *.zip", "empty", Self.name]
        for name in names {
            try sandbox.write(name == "empty" ? "" : name, to: "Apps/Grocery Dude/\(name)")
        }
        try sandbox.write("x", to: "Apps/Grocery Dude/directory/below.zip")
        try sandbox.directory("Apps/Grocery Dude/directory.zip")
        let listed = try await folder.list()
        #expect(listed.map(\.name).sorted() == names.sorted())
        for file in listed {
            #expect(file.size == (file.name == "empty" ? 0 : Int64(file.name.utf8.count)))
        }
    }

    @Test(
        "A folder stores and returns files with names of every kind",
        arguments: Implementation.available
    )
    func names(implementation: Implementation) async throws {
        let folder = folder(implementation)
        let name = "-Ü 🥖 'b' {d} * [x] (2).zip"
        try await folder.upload(draft("milk", for: implementation), as: name)
        try await folder.download(name, to: sandbox.path("target"))
        #expect(try sandbox.read("target") == Array("milk".utf8))
        try await folder.delete(name)
        #expect(try await folder.list().isEmpty)
    }

    @Test(
        "A file moves into a subfolder and back, and is never listed in two places",
        arguments: Implementation.available
    )
    func moves(implementation: Implementation) async throws {
        let folder = folder(implementation)
        let trash = folder.subfolder(".trash")
        #expect(try await trash.list().isEmpty)
        try sandbox.write("milk", to: "Apps/Grocery Dude/\(Self.name)")
        try await folder.move(Self.name, to: trash, as: "1 \(Self.name)")
        #expect(try await folder.list().isEmpty)
        let trashed = try await trash.list()
        #expect(trashed.map(\.name) == ["1 \(Self.name)"])
        #expect(trashed.map(\.size) == [4])
        if let location = trashed[0].location {
            #expect(try File.open(location).readExactly(count: 4, at: 0) == Array("milk".utf8))
        }
        try await trash.download("1 \(Self.name)", to: sandbox.path("target"))
        #expect(try sandbox.read("target") == Array("milk".utf8))
        try await trash.move("1 \(Self.name)", to: folder, as: Self.name)
        #expect(try await folder.list().map(\.name) == [Self.name])
        #expect(try await trash.list().isEmpty)
    }

    @Test(
        "A subfolder is created at any depth if it is needed",
        arguments: Implementation.available
    )
    func subfolders(implementation: Implementation) async throws {
        let folder = folder(implementation)
        let deep = folder.subfolder(".sync").subfolder("a").subfolder("changes")
        #expect(deep.address == folder.address + "/.sync/a/changes")
        #expect(try await deep.list().isEmpty)
        try await deep.delete("never was.json")
        #expect(try FileInfo.ifPresent(remote.appending(".sync")) == nil)
        try await deep.upload(draft("note", for: implementation), as: "1.json")
        #expect(try await deep.list().map(\.name) == ["1.json"])
        #expect(try await folder.subfolder(".sync").list().isEmpty)
        try await deep.move("1.json", to: deep, as: "2.json")
        let other = folder.subfolder(".sync").subfolder("b")
        try await deep.move("2.json", to: other, as: "3.json")
        #expect(try await deep.list().isEmpty)
        await #expect(throws: RemoteError.noFile(deep.address, name: "2.json")) {
            try await deep.move("2.json", to: folder, as: "4.json")
        }
        try await other.download("3.json", to: sandbox.path("target"))
        #expect(try sandbox.read("target") == Array("note".utf8))
        try await other.delete("3.json")
        #expect(try await other.list().isEmpty)
        let files = try sandbox.contents(of: "Apps/Grocery Dude").paths
        #expect(files.allSatisfy { !$0.hasSuffix(".json") && !$0.hasSuffix(".partial") })
    }

    @Test(
        "A move replaces nothing, and fails without a source",
        arguments: Implementation.available
    )
    func movesOverNothing(implementation: Implementation) async throws {
        let folder = folder(implementation)
        try sandbox.write("first", to: "Apps/Grocery Dude/a.zip")
        try sandbox.write("other", to: "Apps/Grocery Dude/b.zip")
        await #expect(throws: RemoteError.exists(folder.address, name: "a.zip")) {
            try await folder.move("b.zip", to: folder, as: "a.zip")
        }
        await #expect(throws: RemoteError.noFile(folder.address, name: "c.zip")) {
            try await folder.move("c.zip", to: folder.subfolder(".trash"), as: "c.zip")
        }
        #expect(try sandbox.read("Apps/Grocery Dude/a.zip") == Array("first".utf8))
        #expect(try sandbox.read("Apps/Grocery Dude/b.zip") == Array("other".utf8))
    }

    @Test("An error names a missing folder by its address", arguments: Implementation.available)
    func missingFolder(implementation: Implementation) async throws {
        let folder = implementation.folder(sandbox.path("missing"))
        let file = try sandbox.write("milk", to: "elsewhere")
        await #expect(throws: RemoteError.missing(folder.address)) {
            try await implementation.folder(sandbox.path("missing")).subfolder("trash").list()
        }
        await #expect(throws: RemoteError.missing(folder.address)) { try await folder.list() }
        await #expect(throws: RemoteError.missing(folder.address)) {
            try await folder.upload(file, as: "a.zip")
        }
        #expect(!sandbox.exists("missing"))
        #expect(try sandbox.read("elsewhere") == Array("milk".utf8))
    }

    @Test("A file that cannot be read is not uploaded", arguments: Implementation.available)
    func uploadsMissing(implementation: Implementation) async throws {
        let folder = folder(implementation)
        await #expect(throws: (any Error).self) {
            try await folder.upload(sandbox.path("missing"), as: "a.zip")
        }
        #expect(try await folder.list().isEmpty)
    }

    @Test(
        "A folder reads a range of a file up to the file's end",
        arguments: Implementation.available
    )
    func ranges(implementation: Implementation) async throws {
        let folder = folder(implementation)
        try sandbox.write("0123456789", to: "Apps/Grocery Dude/\(Self.name)")
        func read(_ range: Range<Int64>) async throws -> String {
            String(decoding: try await folder.download(Self.name, range: range), as: UTF8.self)
        }
        #expect(try await read(3..<7) == "3456")
        #expect(try await read(0..<10) == "0123456789")
        #expect(try await read(8..<20) == "89")
        #expect(try await read(0..<1) == "0")
        await #expect(throws: RemoteError.noFile(folder.address, name: "no.zip")) {
            try await folder.download("no.zip", range: 0..<3)
        }
    }
}
