internal import Archives
internal import Changes
internal import Files
internal import TestSupport
internal import Testing

@Suite("Envelopes")
struct EnvelopeTests {
    private static let body = Array("milk milk milk milk milk milk milk milk milk milk".utf8)

    @Test("Reading returns the file that was written, deflated if that is smaller")
    func roundTrip() throws {
        let plain = try Envelope.write(.changes, header: [1, 2], body: Self.body)
        let small = try Envelope.write(.changes, header: [1, 2], body: Self.body, deflate: deflate)
        #expect(small.bytes.count < plain.bytes.count)
        #expect(plain.bytes.count == 32 + 2 + Self.body.count + 32)
        for file in [plain, small] {
            let envelope = try read(file.bytes)
            #expect(envelope.kind == .changes)
            #expect(envelope.header == [1, 2])
            #expect(envelope.body == Self.body)
            #expect(envelope.id == file.id)
            #expect(Array(file.bytes.suffix(32)) == file.id.bytes)
        }
        let empty = try Envelope.write(.map, header: [], body: [], deflate: deflate)
        #expect(try read(empty.bytes).body.isEmpty)
    }

    @Test("A file that is cut anywhere is reported as incomplete")
    func cut() throws {
        let bytes = try Envelope.write(.changes, header: [1], body: Self.body).bytes
        for count in 0..<bytes.count {
            #expect(throws: ChangeError.incomplete("f")) { try read(Array(bytes.prefix(count))) }
        }
        #expect(throws: ChangeError.incomplete("f")) { try read(bytes + [0]) }
        #expect(throws: ChangeError.incomplete("f")) {
            try read([UInt8](repeating: 0, count: bytes.count))
        }
    }

    @Test("A file with a changed bit anywhere is reported as incomplete")
    func changed() throws {
        let bytes = try Envelope.write(.changes, header: [1], body: Self.body).bytes
        for place in bytes.indices {
            var copy = bytes
            copy[place] ^= 1
            #expect(throws: ChangeError.incomplete("f")) { try read(copy) }
        }
    }

    @Test("A newer version, an unknown kind and an encrypted file give different errors")
    func others() throws {
        #expect(throws: ChangeError.newer("f", version: 258)) {
            try read(edited { $0.replaceSubrange(10..<12, with: [1, 2]) })
        }
        #expect(throws: ChangeError.unknownKind("f", kind: 8)) { try read(edited { $0[8] = 8 }) }
        #expect(throws: ChangeError.encrypted("f")) { try read(edited { $0[9] = 2 }) }
        let errors: [ChangeError] = [
            .incomplete("f"), .newer("f", version: 2), .unknownKind("f", kind: 8), .encrypted("f"),
            .otherKind("f", kind: .blob), .malformed("f", reason: "it is so"), .beyondLimit("no"),
        ]
        for error in errors {
            #expect(error.description.first?.isLowercase == true || error.description.first == "'")
            #expect(!error.description.hasSuffix("."))
            #expect(error.hint != nil)
        }
    }

    @Test("Lengths that contradict each other are refused before memory is allocated for them")
    func lengths() throws {
        let edits: [(inout [UInt8]) -> Void] = [
            { $0[0] = 0 }, { $0[11] = 0 }, { $0[9] = 4 }, { $0[15] = 2 }, { $0[12] = 1 },
            { $0[23] += 1 }, { $0[16] = 0xFF }, { $0[31] += 1 }, { $0[28] = 2 }, { $0[24] = 0xFF },
            { $0.append(0) },
        ]
        for (index, edit) in edits.enumerated() {
            #expect(isMalformed(try edited(edit)), "\(index)")
        }
    }

    @Test("A body that inflates to another size than declared is refused and takes no more memory")
    func bomb() throws {
        let zeros = [UInt8](repeating: 0, count: 4 << 20)
        let file = try Envelope.write(.changes, header: [], body: zeros, deflate: deflate)
        #expect(file.bytes.count < 100_000)
        for length in [0, 1, 1000, zeros.count - 1, zeros.count + 1, 16 << 20, 16 << 20 + 1] {
            var bytes = Array(file.bytes.dropLast(32))
            for place in 0..<8 {
                bytes[24 + place] = UInt8(truncatingIfNeeded: length >> (56 - 8 * place))
            }
            var room = 0
            #expect(throws: ChangeError.self, "\(length)") {
                try Envelope(reading: sealed(bytes), name: "f") { input, output in
                    room = output.count
                    return RawDeflate.inflate(input, into: output)
                }
            }
            #expect(room == (length > 16 << 20 ? 0 : length))
        }
    }

    @Test("A deflated body that is cut, has extra bytes, or is not deflate data is refused")
    func badDeflate() throws {
        let file = try Envelope.write(.changes, header: [], body: Self.body, deflate: deflate)
        for seed in Fuzzing(usual: 300) {
            var random = Pseudorandom(seed: seed)
            var bytes = Array(file.bytes.dropLast(32))
            var content = Array(bytes[32...])
            _ = random.damage(&content)
            bytes.replaceSubrange(32..., with: content)
            bytes[23] = UInt8(content.count)
            guard let read = try? read(sealed(bytes)) else { continue }
            #expect(read.body.count == Self.body.count, "seed \(seed)")
        }
    }

    @Test("The writer refuses what is too long")
    func tooLong() {
        #expect(throws: ChangeError.self) {
            try Envelope.write(.map, header: [], body: [UInt8](repeating: 0, count: 1 << 20 + 1))
        }
        #expect(throws: ChangeError.self) {
            try Envelope.write(.map, header: [UInt8](repeating: 0, count: 1 << 20 + 1), body: [])
        }
    }

    @Test("A blob's frame is made and read without its content")
    func blobs() throws {
        let content = Array("a photo".utf8)
        let group = GroupID(high: 3, low: 4)
        let start = try BlobFile.start(group: group, size: UInt64(content.count))
        #expect(start.count == BlobFile.startLength)
        var running = RunningDigest()
        for part in [start, content] { part.withUnsafeBytes { running.update($0) } }
        let bytes = start + content + running.digest.bytes
        let read = try BlobFile.readStart(start, fileLength: UInt64(bytes.count), name: "f")
        #expect(read.group == group)
        #expect(
            Array(bytes[Int(read.content.lowerBound)..<Int(read.content.upperBound)]) == content
        )
        #expect(try self.read(bytes).body == content)
        #expect(throws: ChangeError.self) {
            try BlobFile.readStart(start, fileLength: UInt64(bytes.count - 1), name: "f")
        }
        #expect(throws: ChangeError.self) {
            try BlobFile.readStart(Array(start.dropLast()), fileLength: 87, name: "f")
        }
        #expect(throws: ChangeError.otherKind("f", kind: .map)) {
            let map = try Envelope.write(.map, header: group.bytes, body: content).bytes
            _ = try BlobFile.readStart(map, fileLength: UInt64(map.count), name: "f")
        }
        #expect(throws: ChangeError.self) { try BlobFile.start(group: group, size: 1 << 30 + 1) }
        _ = try BlobFile.start(group: group, size: 1 << 30)
    }

    @Test("A baseline's index is read as it was written, and in no other form")
    func index() throws {
        let ids = (0..<5).map { digest([$0]) }
        let file = try BaselineIndex.write(
            .sample,
            parts: Array(ids[..<2]),
            covers: Array(ids[2...])
        )
        let index = try BaselineIndex(reading: file.bytes, name: "f", inflate: inflate)
        #expect(index.parts == Array(ids[..<2]))
        #expect(index.covers == Array(ids[2...]))
        #expect(index.header == .sample)
        #expect(index.id == file.id)
        let header = try read(file.bytes).header
        let body = try read(file.bytes).body
        for bad in [Array(body.dropLast()), body + [0], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], []] {
            let bytes = try Envelope.write(.baselineIndex, header: header, body: bad).bytes
            #expect(throws: ChangeError.self) {
                try BaselineIndex(reading: bytes, name: "f", inflate: inflate)
            }
        }
    }

    private func read(_ bytes: [UInt8]) throws -> Envelope {
        try Envelope(reading: bytes, name: "f", inflate: inflate)
    }

    private func edited(_ edit: (inout [UInt8]) -> Void) throws -> [UInt8] {
        let file = try Envelope.write(.changes, header: [1], body: Self.body)
        var bytes = Array(file.bytes.dropLast(32))
        edit(&bytes)
        return sealed(bytes)
    }

    private func isMalformed(_ bytes: [UInt8]) -> Bool {
        do {
            _ = try read(bytes)
            return false
        } catch ChangeError.malformed {
            return true
        } catch {
            return false
        }
    }
}
