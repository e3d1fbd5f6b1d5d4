import Changes
import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

/// Values of a Core Data store that are in files beside it.
@Suite("External data")
struct ExternalDataSyncTests {
    let sandbox: Sandbox
    let desk: Device
    let phone: Device
    let start = Date(timeIntervalSince1970: 1_790_000_000)
    private let photo = "0B9B0C1E-5C1D-4F0A-9B8E-0123456789AB"
    private let other = "7D7C1B2A-0000-4000-8000-ABCDEFABCDEF"

    init() throws {
        sandbox = try Sandbox()
        let folder = LocalFolder(try sandbox.directory("Container"))
        let schema = NoteBook.first.schema
        desk = try Device("desk", in: sandbox, folder: folder, schema: schema)
        phone = try Device("phone", in: sandbox, folder: folder, schema: schema)
    }

    private func file(_ name: String, of device: Device) -> FilePath {
        device.stores.appending(".a_SUPPORT/_EXTERNAL_DATA").appending(name)
    }

    private func content(_ name: String, of device: Device) throws -> [UInt8]? {
        let path = file(name, of: device)
        guard try FileInfo.ifPresent(path) != nil else { return nil }
        return try File.contents(of: path, limit: 1 << 20)
    }

    /// Writes a file as Core Data does, and rows that name it.
    private func add(_ items: [String], _ name: String, _ bytes: [UInt8]) throws {
        let path = file(name, of: desk)
        try LocalFileSystem().createDirectories(path.removingLastComponent())
        try LocalFileSystem().write(bytes, to: path)
        for item in items {
            try desk.edit(
                "INSERT INTO ZITEM (Z_ENT, Z_OPT, ZNAME, ZPHOTO) VALUES (2, 1, ?, ?)",
                [item, value(name)]
            )
        }
    }

    private func value(_ name: String) -> Data { Data([2] + Array(name.utf8) + [0]) }

    private func exchange(_ devices: [Device], at minutes: Double) async throws {
        for device in devices { try await device.sync(at: start + minutes * 60) }
    }

    private func begin() async throws {
        try await desk.enable(at: start)
        try await exchange([desk], at: 0)
        try await phone.enable(at: start)
        try await exchange([phone], at: 1)
    }

    private func items(_ device: Device) throws -> [String] {
        try device.rows("SELECT ZNAME, hex(ZPHOTO) FROM ZITEM ORDER BY ZNAME")
    }

    private let bytes = [UInt8](repeating: 7, count: 100_000)

    @Test("comes with the rows that name it, and goes with the last one")
    func files() async throws {
        try add(["milk", "tea"], photo, bytes)
        try await begin()
        #expect(try items(phone) == items(desk))
        #expect(try content(photo, of: phone) == bytes)
        try phone.edit("DELETE FROM ZITEM WHERE ZNAME = 'milk'")
        try await exchange([phone, desk], at: 2)
        #expect(try content(photo, of: desk) == bytes)
        // Another value has another name.
        try add([], other, [1, 2, 3])
        try desk.edit("UPDATE ZITEM SET ZPHOTO = ?", [value(other)])
        try await exchange([desk, phone], at: 3)
        #expect(try content(other, of: phone) == [1, 2, 3])
        #expect(try content(photo, of: phone) == nil)
        try desk.edit("DELETE FROM ZITEM")
        try await exchange([desk, phone], at: 4)
        #expect(try content(other, of: phone) == nil)
        #expect(try items(phone) == [])
        #expect(try await phone.sync(at: start + 600).isQuiet)
    }

    /// Takes the row back that went first from a device's store.
    private func take(on device: Device) throws -> TakenConflict {
        let sidecar = try Sidecar(in: device.sidecarPath)
        defer { try? sidecar.close() }
        let number = try #require(try sidecar.conflicts(all: true).last?.number)
        return try sidecar.takeConflict(
            number,
            of: device.store,
            at: start + 180,
            program: "test 1"
        )
    }

    /// Removes all long values from the container.
    private func removeBlobs() throws {
        let container = sandbox.path("Container").appending("a")
        for name in try Directory.open(container).names().map(\.description)
        where name.hasPrefix("blob-") {
            try LocalFileSystem().remove(container.appending(name))
        }
    }

    @Test("is kept when its row goes, and comes back with it, though the container has lost it")
    func takenBack() async throws {
        try add(["milk"], photo, bytes)
        try await begin()
        try desk.edit("DELETE FROM ZITEM")
        try LocalFileSystem().remove(file(photo, of: desk))
        try await exchange([desk, phone], at: 2)
        #expect(try content(photo, of: phone) == nil)
        try removeBlobs()
        #expect(try take(on: phone) == .taken)
        try await exchange([phone, desk], at: 4)
        for device in [desk, phone] {
            #expect(try device.rows("SELECT ZNAME FROM ZITEM") == ["milk"])
            #expect(try content(photo, of: device) == bytes)
        }
        // No entry refers to it any more.
        try await exchange([phone], at: 60 * 25)
        let kept = phone.sidecarPath.appending("removed")
        #expect(try Directory.open(kept).names().isEmpty)
    }

    @Test("that is nowhere leaves its row in the list")
    func takenInVain() async throws {
        try add(["milk"], photo, bytes)
        try await begin()
        try desk.edit("DELETE FROM ZITEM")
        try LocalFileSystem().remove(file(photo, of: desk))
        try await exchange([desk, phone], at: 2)
        try removeBlobs()
        try LocalFileSystem().remove(phone.sidecarPath.appending("removed"))
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        let content = BlobReference(digest: digest, size: UInt64(bytes.count))
        #expect(try take(on: phone) == .lacksContent([content]))
        #expect(try take(on: phone) == .lacksContent([content]))
        try await exchange([phone], at: 4)
        #expect(try items(phone) == [])
    }

    @Test("stays if another store may name it, whose directory it is as well")
    func shared() async throws {
        try add(["milk"], photo, bytes)
        try await begin()
        try LocalFileSystem().write([1], to: phone.stores.appending("a.db"))
        try desk.edit("DELETE FROM ZITEM")
        try await exchange([desk, phone], at: 2)
        #expect(try items(phone) == [])
        #expect(try content(photo, of: phone) == bytes)
    }

    @Test("that is not there yet keeps its row waiting, and no other")
    func missing() async throws {
        try await begin()
        try add(["milk"], photo, bytes)
        try desk.edit("INSERT INTO ZITEM (Z_ENT, Z_OPT, ZNAME) VALUES (2, 1, 'tea')")
        try await exchange([desk], at: 2)
        let container = sandbox.path("Container").appending("a")
        let names = try Directory.open(container).names().map(\.description)
        let blobs = container.appending(try #require(names.first { $0.hasPrefix("blob-") }))
        try LocalFileSystem().move(blobs, to: sandbox.path("Away"))
        try await exchange([phone], at: 3)
        #expect(try items(phone) == ["tea|"])
        #expect(try content(photo, of: phone) == nil)
        try LocalFileSystem().move(sandbox.path("Away"), to: blobs)
        try await exchange([phone], at: 4)
        #expect(try items(phone) == items(desk))
        #expect(try content(photo, of: phone) == bytes)
    }

    @Test("never replaces a file of another content")
    func taken() async throws {
        try await begin()
        try add(["milk"], photo, bytes)
        try LocalFileSystem().createDirectories(file(photo, of: phone).removingLastComponent())
        try LocalFileSystem().write([9], to: file(photo, of: phone))
        try await exchange([desk, phone, phone], at: 2)
        #expect(try items(phone) == [])
        #expect(try content(photo, of: phone) == [9])
    }

    @Test("whose file is missing is the same value elsewhere, and nobody's row is touched")
    func dangling() async throws {
        try desk.edit(
            "INSERT INTO ZITEM (Z_ENT, Z_OPT, ZNAME, ZPHOTO) VALUES (2, 1, 'milk', ?)",
            [value(photo)]
        )
        try await begin()
        #expect(try items(phone) == items(desk))
        #expect(try await desk.sync(at: start + 600).isQuiet)
        #expect(try desk.rows("SELECT Z_OPT FROM ZITEM") == ["1"])
    }

    @Test("is on the disk before its row, and is removed if the row never comes")
    func interrupted() async throws {
        try await begin()
        try add(["milk"], photo, bytes)
        try await exchange([desk], at: 2)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let application = try DatabaseQueue(
            path: phone.storePath.string,
            configuration: configuration
        )
        try await application.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: StoreError.self) { try await phone.sync(at: start + 180) }
        #expect(try content(photo, of: phone) == bytes)
        try await application.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try application.close()
        try desk.edit("DELETE FROM ZITEM")
        try await exchange([desk, phone], at: 4)
        #expect(try items(phone) == [])
        #expect(try content(photo, of: phone) == nil)
    }

    @Test("of a row that went before a crash is removed by the next run")
    func killed() async throws {
        try add(["milk"], photo, bytes)
        try await begin()
        try desk.edit("DELETE FROM ZITEM")
        try await exchange([desk], at: 2)
        phone.options.passed = { if $0 == .written { throw Killed() } }
        await #expect(throws: Killed.self) { try await phone.sync(at: start + 180) }
        #expect(try content(photo, of: phone) == bytes)
        phone.options.passed = { _ in }
        try await exchange([phone], at: 4)
        #expect(try content(photo, of: phone) == nil)
    }
}
