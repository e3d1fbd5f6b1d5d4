import Foundation
import Remotes
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Reading a remote backup")
struct LookElsewhereTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func show(_ remote: Elsewhere) async throws -> ShowBackup.Outcome {
        try await ShowBackup(in: scene.folder(remote), context: scene.context()).run("latest")
    }

    /// Ranges that were fetched.
    private final class Fetches: Sendable {
        let ranges = Mutex<[Range<Int64>]>([])

        func note(_ range: Range<Int64>, _ bytes: [UInt8]) -> [UInt8] {
            ranges.withLock { $0.append(range) }
            return bytes
        }
    }

    @Test(
        "Reading a remote backup fetches its end alone, in one part if small, else in two or three"
    )
    func parts() async throws {
        var random = Pseudorandom(seed: 1)
        let fetches = Fetches()
        let remote = Elsewhere(folder: scene.remote, ranged: fetches.note)
        try scene.sandbox.write(random.bytes(3 << 20), to: "Stores/large")
        try await scene.backUp()
        #expect(try await show(remote).header?.stores.count == 1)
        #expect(fetches.ranges.withLock { $0 }.map(\.count) == [512 << 10])

        for index in 0..<6000 { try scene.sandbox.write("\(index)", to: "Stores/many/\(index)") }
        let size = try await scene.backUp(at: Scene.morning + 60).backup.size
        fetches.ranges.withLock { $0 = [] }
        let shown = try await show(remote)
        #expect(shown.files.count > 6000)
        #expect(shown.backup.timeSource == .manifest)
        let fetched = fetches.ranges.withLock { $0 }
        #expect((2...3).contains(fetched.count))
        #expect(fetched.reduce(0) { $0 + $1.count } < size - 3 << 20)
    }

    @Test("Reading a remote backup works if a server ignores ranges and sends the file's beginning")
    func noRanges() async throws {
        var random = Pseudorandom(seed: 1)
        try scene.sandbox.write(random.bytes(3 << 20), to: "Stores/large")
        let backup = try await scene.backUp().backup
        let folder = scene.remote
        let remote = Elsewhere(folder: folder, isFetching: true) { range, _ in
            let path = folder.path.appending(backup.name)
            return try Array(
                Data(contentsOf: URL(fileURLWithPath: path.string)).prefix(range.count)
            )
        }
        let shown = try await show(remote)
        #expect(shown.files.map(\.path).contains("large"))
        #expect(shown.header?.id == backup.id)
    }

    @Test(
        "Reading a remote backup works if the archive is replaced between two parts",
        arguments: [true, false]
    )
    func replaced(isLonger: Bool) async throws {
        for index in 0..<6000 { try scene.sandbox.write("\(index)", to: "Stores/many/\(index)") }
        let name = try await scene.backUp().backup.name
        try scene.sandbox.write(isLonger ? "longer" : "", to: "Stores/many/17")
        let other = try await scene.backUp(at: Scene.morning + 60).backup
        let path = scene.remotePath
        let isReplaced = Mutex(false)
        let remote = Elsewhere(folder: scene.remote, isFetching: true) { _, bytes in
            try isReplaced.withLock { isReplaced in
                if isReplaced { return }
                isReplaced = true
                try FileManager.default.removeItem(atPath: path.appending(name).string)
                try FileManager.default.moveItem(
                    atPath: path.appending(other.name).string,
                    toPath: path.appending(name).string
                )
            }
            return bytes
        }
        let folder = scene.folder(remote)
        let shown = try await ShowBackup(in: folder, context: scene.context()).run(name)
        #expect(shown.header?.id == other.id)
        #expect(shown.files.first { $0.path == "many/17" }?.size == (isLonger ? 6 : 0))
    }

    @Test("Reading a remote backup calls it damaged only after all of it was fetched")
    func damaged() async throws {
        let name = try await scene.backUp().backup.name
        var bytes = try scene.sandbox.read("Remote/\(name)")
        bytes.removeLast(3)
        try scene.sandbox.write(bytes, to: "Remote/\(name)")
        let remote = Elsewhere(folder: scene.remote, isFetching: true)
        await #expect { try await show(remote) } throws: {
            "\($0)".contains("'\(name)' is not a zip")
        }
    }
}
