internal import Files
internal import Foundation
@testable import Remotes
internal import SystemPackage
internal import TestSupport
internal import Testing

/// A remote folder on a real server.
enum Served: String, CaseIterable, Sendable {
    case webdav, sftp, s3, crypt

    var kind: RemoteServer.Kind { RemoteServer.Kind(rawValue: rawValue) ?? .webdav }

    /// Those whose servers are installed.
    static let available = allCases.filter(\.kind.isInstalled)

    /// Those of the kinds that are installed; with GROCERYDUDE_REMOTES=all all that are.
    static func some(_ kinds: Served...) -> [Served] {
        available.filter { kinds.contains($0) || triesAll }
    }

    /// Whether tests take their time.
    static let triesAll = ProcessInfo.processInfo.environment["GROCERYDUDE_REMOTES"] == "all"

    func start(
        in sandbox: Sandbox,
        options: [String] = [],
        isBehindProxy: Bool = false,
        before: String = ":"
    ) throws -> RemoteServer {
        try RemoteServer(
            kind,
            in: sandbox,
            options: options,
            isBehindProxy: isBehindProxy,
            before: before
        )
    }

    /// Returns a folder on a server, made if it has to be.
    func folder(
        on server: RemoteServer,
        _ name: String = "Apps/Grocery Dude",
        through rclone: Rclone = Rclone()
    ) throws -> RcloneFolder {
        let remote = server.remote(name, isEncrypted: self == .crypt)
        try server.rclone("mkdir", remote)
        return unmadeFolder(on: server, name, through: rclone)
    }

    /// Returns a folder on a server that may not be there.
    func unmadeFolder(
        on server: RemoteServer,
        _ name: String = "Apps/Grocery Dude",
        through rclone: Rclone = Rclone()
    ) -> RcloneFolder {
        var rclone = rclone
        rclone.environment = server.client
        return RcloneFolder(
            server.remote(name, isEncrypted: self == .crypt),
            through: rclone
        )
    }
}

/// The promises of `RemoteFolder`, on real servers.
@Suite("RemoteFolder over real servers", .serialized)
struct ServedFolderTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    private static let name = "[2026-Nov-21] 09.01 AM Stores.zip"

    private func draft(_ text: String) throws -> FilePath {
        try sandbox.write(text, to: "staging/\(UInt64.random(in: 0 ... .max))")
    }

    private func text(of name: String, in folder: any RemoteFolder) async throws -> String {
        let target = "target-\(UInt64.random(in: 0 ... .max))"
        try await folder.download(name, to: sandbox.path(target))
        return String(decoding: try sandbox.read(target), as: UTF8.self)
    }

    private func names(_ folder: any RemoteFolder) async throws -> [String] {
        try await folder.list().map(\.name).sorted()
    }

    @Test(
        "The tests over real servers include S3",
        .enabled(if: RemoteServer.Kind.s3.isInstalled, "moto_server is not installed (PyPI: moto)")
    )
    func hasS3() {
        #expect(Served.available.contains(.s3))
    }

    @Test("Files with names of every kind are transferred whole", arguments: Served.available)
    func comesAndGoes(served: Served) async throws {
        let server = try served.start(in: sandbox)
        let folder = try served.folder(on: server)
        #expect(try await folder.list().isEmpty)
        let file = try draft("milk")
        var uploaded = try await folder.upload(file, as: Self.name)
        // A list does not show it.
        #expect(uploaded.hash == nil || served == .s3 || served == .sftp)
        uploaded.hash = nil
        #expect(try await folder.list() == [uploaded])
        #expect(uploaded == RemoteFile(name: Self.name, size: 4))
        #expect(try await text(of: Self.name, in: folder) == "milk")
        #expect(try FileInfo.ifPresent(file) == nil)
        // Over a file that is there, in the eyes of somebody who has not looked, too.
        let other = try draft("other")
        for folder in [folder, served.unmadeFolder(on: server)] {
            await #expect(throws: RemoteError.exists(folder.address, name: Self.name)) {
                try await folder.upload(other, as: Self.name)
            }
        }
        #expect(try await text(of: Self.name, in: folder) == "milk")
        #expect(try FileInfo.ifPresent(other) != nil)
        // The file that did not get its name gets another.
        try await folder.upload(other, as: "-Ü 🥖 'b' {d} [x] (2).zip")
        #expect(try await text(of: "-Ü 🥖 'b' {d} [x] (2).zip", in: folder) == "other")
        await #expect(throws: RemoteError.noFile(folder.address, name: "no.zip")) {
            try await folder.download("no.zip", to: sandbox.path("no"))
        }
        #expect(!sandbox.exists("no"))
        try await folder.delete(Self.name)
        try await folder.delete(Self.name)
        let left = try await names(folder).filter { !PartialName.matches($0) }
        #expect(left == ["-Ü 🥖 'b' {d} [x] (2).zip"])
    }

    @Test("A move over a server replaces no file", arguments: Served.available)
    func moves(served: Served) async throws {
        let server = try served.start(in: sandbox)
        let folder = try served.folder(on: server)
        let trash = folder.subfolder(".grocerydude-trash")
        #expect(try await trash.list().isEmpty)
        try await folder.upload(draft("milk"), as: Self.name)
        try await folder.upload(draft("bread"), as: "b.zip")
        try await folder.move(Self.name, to: trash, as: "1 \(Self.name)")
        #expect(try await names(folder) == ["b.zip"])
        #expect(try await names(trash) == ["1 \(Self.name)"])
        #expect(try await text(of: "1 \(Self.name)", in: trash) == "milk")
        try await trash.move("1 \(Self.name)", to: folder, as: Self.name)
        #expect(try await trash.list().isEmpty)
        await #expect(throws: RemoteError.exists(folder.address, name: Self.name)) {
            try await folder.move("b.zip", to: folder, as: Self.name)
        }
        await #expect(throws: RemoteError.noFile(folder.address, name: "c.zip")) {
            try await folder.move("c.zip", to: trash, as: "c.zip")
        }
        #expect(try await text(of: Self.name, in: folder) == "milk")
        #expect(try await text(of: "b.zip", in: folder) == "bread")
        let deep = folder.subfolder(".sync").subfolder("a").subfolder("changes")
        try await deep.delete("never was.json")
        try await deep.upload(draft("note"), as: "1.json")
        try await deep.move("1.json", to: folder.subfolder(".sync"), as: "2.json")
        #expect(try await deep.list().isEmpty)
        #expect(try await names(folder.subfolder(".sync")) == ["2.json"])
    }

    @Test("A hundred files are listed in one process", arguments: Served.some(.webdav, .s3))
    func hundred(served: Served) async throws {
        let server = try served.start(in: sandbox)
        let folder = try served.folder(on: server, "a [1] b")
        for number in 0..<100 { try sandbox.write("\(number)", to: "many/\(number) Ü Stores.zip") }
        try sandbox.write("x", to: "many/.grocerydude-notes/1.json")
        try sandbox.write("x", to: "many/below/no.zip")
        let remote = server.remote("a [1] b", isEncrypted: served == .crypt)
        try server.rclone("copy", sandbox.path("many").string, remote)
        #expect(try await folder.list().count == 100)
        // What came with that list is as it was then; a later question gets how it is now.
        try server.rclone("delete", "\(remote)/.grocerydude-notes")
        let notes = folder.subfolder(".grocerydude-notes")
        #expect(try await names(notes) == ["1.json"])
        #expect(try await notes.list().isEmpty)
        // A change of ours is never passed over.
        _ = try await folder.list()
        try await notes.upload(draft("x"), as: "2.json")
        #expect(try await names(notes) == ["2.json"])
    }

    @Test(
        "Only one of two machines gets a name that both want",
        arguments: Served.some(.webdav, .sftp)
    )
    func rivals(served: Served) async throws {
        let server = try served.start(in: sandbox)
        for round in 0..<(Served.triesAll ? 5 : 2) {
            let name = "\(round).zip"
            let texts = try await withThrowingTaskGroup(of: String?.self) { group in
                for machine in ["a", "b", "c"] {
                    var rclone = Rclone()
                    rclone.machine = machine
                    let folder = try served.folder(on: server, through: rclone)
                    let file = try draft("\(machine)\(round)")
                    group.addTask {
                        do {
                            try await folder.upload(file, as: name)
                            return "\(machine)\(round)"
                        } catch RemoteError.exists {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [String]()) {
                    if let text = $1 { $0.append(text) }
                }
            }
            #expect(texts.count <= 1)
            let folder = try served.folder(on: server)
            let found = try await names(folder).contains(name)
            #expect(found == (texts.count == 1))
            if let text = texts.first { #expect(try await self.text(of: name, in: folder) == text) }
        }
    }

    @Test("A machine gives way to an earlier claim, and waits for a later one")
    func claims() async throws {
        let served = Served.webdav
        let server = try served.start(in: sandbox)
        let folder = try served.folder(on: server, "Apps")
        // Whatever claim the folder makes, it is between these two.
        let first = UploadClaim(of: "000000000000", to: "a.zip").name
        let last = UploadClaim(of: "ffffffffffff", to: "b.zip").name
        try sandbox.write("first", to: "served-webdav/Apps/\(first)")
        try sandbox.write("last", to: "served-webdav/Apps/\(last)")
        let file = try draft("mine")
        await #expect(throws: RemoteError.exists(folder.address, name: "a.zip")) {
            try await folder.upload(file, as: "a.zip")
        }
        // The machine of the other one was faster: it had looked before this one claimed.
        let directory = sandbox.path("served-webdav/Apps")
        let rival = try #require(UploadClaim(last))
        let task = Task { try await folder.upload(file, as: "b.zip") }
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let names = try Directory.open(directory).names().map(\.description)
            if names.contains(where: { UploadClaim($0)?.isRival(of: rival) == true }) { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        try LocalFileSystem().move(directory.appending(last), to: directory.appending("b.zip"))
        await #expect(throws: RemoteError.exists(folder.address, name: "b.zip")) {
            try await task.value
        }
        #expect(try await text(of: "b.zip", in: folder) == "last")
        // One that has gone away for good is in nobody's way.
        try LocalFileSystem().remove(directory.appending(first))
        try await folder.upload(file, as: "a.zip")
        #expect(try await names(folder) == ["a.zip", "b.zip"])
        #expect(try await text(of: "a.zip", in: folder) == "mine")
    }

    @Test(
        "An error names a missing folder, and the folder is not created",
        arguments: Served.available
    )
    func missing(served: Served) async throws {
        let server = try served.start(in: sandbox)
        // In a bucket, every folder is there.
        let place = served == .s3 ? "tests3:nobucket" : nil
        var rclone = Rclone()
        rclone.environment = server.client
        let folder =
            place.map { RcloneFolder($0, through: rclone) }
            ?? served.unmadeFolder(on: server, "missing")
        let file = try draft("milk")
        for _ in 0..<2 {
            await #expect(throws: RemoteError.missing(folder.address)) {
                try await folder.upload(file, as: "a.zip")
            }
            await #expect(throws: RemoteError.missing(folder.address)) { try await folder.list() }
        }
        #expect(try FileInfo.ifPresent(file) != nil)
    }
}
