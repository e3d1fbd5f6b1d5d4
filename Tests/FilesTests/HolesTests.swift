import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Files

@Suite("Holes")
struct HolesTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test("are left where long runs of zeros would be, and nothing else is")
    func writing() throws {
        var random = Pseudorandom(seed: 5)
        for round in 0..<60 {
            var bytes: [UInt8] = []
            for _ in 0..<(1 + random.below(6)) {
                let count = random.below(3) == 0 ? random.below(200_000) : 4096 * random.below(40)
                bytes +=
                    random.next() % 2 == 0
                    ? [UInt8](repeating: 0, count: count) : random.bytes(count)
            }
            let offset = Int64(random.below(3) == 0 ? random.below(10_000) : 4096 * random.below(4))
            let file = try File.create(sandbox.path("\(round)"))
            try bytes.withUnsafeBytes { try file.writeLeavingHoles($0, at: offset) }
            try file.truncate(to: offset + Int64(bytes.count))
            #expect(try file.readExactly(count: bytes.count, at: offset) == bytes)
            for run in bytes.withUnsafeBytes({ Array(ZeroRuns(in: $0, at: offset)) }) {
                #expect(run.count >= 65_536 && run.count % 4096 == 0)
                #expect((offset + Int64(run.lowerBound)) % 4096 == 0)
            }
        }
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let runs = zeros.withUnsafeBytes { Array(ZeroRuns(in: $0, at: 0)) }
        #expect(runs == [0..<(1 << 20)])
    }

    @Test("are reported, or all is data")
    func finding() throws {
        let file = try File.create(sandbox.path("file"))
        try file.truncate(to: 10 << 20)
        try [UInt8](repeating: 1, count: 10).withUnsafeBytes { try file.write($0, at: 5 << 20) }
        let data = try file.data(from: 0)
        #expect(data.contains(5 << 20))
        let rest = try file.data(from: data.upperBound)
        #expect(rest.upperBound == 10 << 20)
        #expect(try file.data(from: 11 << 20).isEmpty)
        let closed = File(adopting: -1, path: "nowhere")
        #expect(throws: FileError.self) { try closed.data(from: 0) }
    }

    @Test("are copied as holes")
    func copying() throws {
        let file = try File.create(sandbox.path("file"))
        try file.truncate(to: 40 << 20)
        try [UInt8](repeating: 1, count: 10).withUnsafeBytes { try file.write($0, at: 5 << 20) }
        let copy = try file.copy(to: sandbox.path("copy"), syncing: true)
        #expect(try copy.info().size == 40 << 20)
        #expect(try copy.info().allocated <= 1 << 20)
        #expect(try Digest(contentsOf: copy.path) == Digest(contentsOf: file.path))
    }
}
