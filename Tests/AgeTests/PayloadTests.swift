@testable internal import Age
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("Payload")
struct PayloadTests {
    private static let chunk = 64 << 10

    private let identity: Identity

    init() throws {
        identity = try Identity.generate()
    }

    private func file(_ plain: [UInt8]) throws -> [UInt8] {
        try encrypted(plain, for: [identity.recipient])
    }

    private func headerLength(_ file: [UInt8]) throws -> Int {
        Int(try EncryptedFile(MemorySource(path: "X.age", bytes: file)).overhead)
    }

    @Test(
        "Decryption returns the encrypted bytes, for any length and size of writes",
        arguments: [
            0, 1, 15, 16, 17, chunk - 1, chunk, chunk + 1, 2 * chunk, 16 * chunk - 1, 16 * chunk,
            16 * chunk + 1, 33 * chunk, 70 * chunk + 12345,
        ],
        [1, 3]
    )
    func roundTrip(size: Int, threads: Int) throws {
        var random = Pseudorandom(seed: UInt64(size))
        let plain = random.bytes(size)
        for pieces in [1000, Self.chunk, 5 << 20] {
            let file = try encrypted(
                plain,
                for: [identity.recipient],
                threads: threads,
                pieces: pieces
            )
            #expect(try decrypted(file, with: [identity]) == plain)
            let chunks = max(1, (size + Self.chunk - 1) / Self.chunk)
            #expect(file.count == (try headerLength(file)) + size + 16 * chunks)
        }
    }

    @Test("Any part can be read on its own")
    func randomAccess() throws {
        var random = Pseudorandom(seed: 4)
        let plain = random.bytes(9 * Self.chunk + 777)
        let source = try opened(file(plain), with: [identity])
        #expect(source.size == Int64(plain.count))
        for _ in 0..<300 {
            let range = random.range(in: plain.count, atMost: random.pick([10, 3000, 300_000]))
            let bytes = try source.readExactly(count: range.count, at: Int64(range.lowerBound))
            #expect(bytes.elementsEqual(plain[range]))
        }
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = try buffer.withUnsafeMutableBytes {
            try source.read(into: $0, at: Int64(plain.count) - 40)
        }
        #expect(count == 40)
        #expect(try buffer.withUnsafeMutableBytes { try source.read(into: $0, at: 1 << 40) } == 0)
    }

    @Test("Threads that read at the same time read the same bytes")
    func threads() async throws {
        var random = Pseudorandom(seed: 5)
        let plain = random.bytes(20 * Self.chunk + 5)
        let source = try opened(file(plain), with: [identity])
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for seed in 0..<4 {
                group.addTask {
                    var random = Pseudorandom(seed: UInt64(seed))
                    return try (0..<50).allSatisfy { _ in
                        let range = random.range(in: plain.count, atMost: 200_000)
                        return try source.readExactly(
                            count: range.count,
                            at: Int64(range.lowerBound)
                        )
                        .elementsEqual(plain[range])
                    }
                }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }

    @Test("A truncated file is refused when it is opened")
    func truncated() throws {
        let file = try file([UInt8](repeating: 7, count: 5 * Self.chunk + 99))
        let start = try headerLength(file)
        let sealed = Self.chunk + 16
        let ends = (0...5).flatMap { index in
            [-17, -16, -1, 0, 1, 15, 16, 17].map { start + index * sealed + $0 }
        }
        for end in ends where end < file.count && end >= 0 {
            let error = #expect(throws: AgeError.self) {
                try opened(Array(file[..<end]), with: [identity])
            }
            #expect(error?.isDamage == true)
        }
    }

    @Test("Bytes after the end are refused")
    func appended() throws {
        let file = try file([UInt8](repeating: 7, count: 2 * Self.chunk))
        let start = try headerLength(file)
        let chunk = file[start..<start + Self.chunk + 16]
        for extra in [[0], [UInt8](repeating: 0, count: 16), Array(chunk), Array(chunk.prefix(99))]
        {
            #expect(throws: AgeError.wrongEnd("folder/X.age")) {
                try opened(file + extra, with: [identity])
            }
        }
        // A chunk is doubled: the end is valid, but the second copy is out of order.
        var doubled = file
        doubled.insert(contentsOf: chunk, at: start)
        #expect(throws: AgeError.self) { try decrypted(doubled, with: [identity]) }
    }

    @Test("A flipped bit in the last chunk is reported as damage, not as a missing end")
    func flippedAtTheEnd() throws {
        for (size, last) in [
            (99, 0), (Self.chunk, 0), (4 * Self.chunk, 3), (4 * Self.chunk + 9, 4),
        ] {
            let file = try file([UInt8](repeating: 7, count: size))
            let place = try headerLength(file) + last * (Self.chunk + 16)
            for bit in [place + 3, file.count - 1] {
                var damaged = file
                damaged[bit] ^= 4
                let error = AgeError.damaged(
                    "folder/X.age",
                    chunk: Int64(last),
                    of: Int64(last + 1)
                )
                #expect(throws: error) { try opened(damaged, with: [identity]) }
            }
            // The file ends with a full chunk that is not marked as the last.
            guard last > 0 else { continue }
            #expect(throws: AgeError.wrongEnd("folder/X.age")) {
                try opened(Array(file[..<place]), with: [identity])
            }
        }
    }

    @Test("A flipped bit damages only its own chunk, which the error names")
    func flipped() throws {
        var random = Pseudorandom(seed: 6)
        let plain = random.bytes(4 * Self.chunk + 10)
        let file = try file(plain)
        let start = try headerLength(file)
        for index in 0..<4 {
            var damaged = file
            let place = start + index * (Self.chunk + 16) + random.below(Self.chunk + 16)
            damaged[place] ^= 1 << UInt8(random.below(8))
            let source = try opened(damaged, with: [identity])
            let error = AgeError.damaged("folder/X.age", chunk: Int64(index), of: 5)
            for other in 0..<4 {
                let offset = other * Self.chunk
                let bytes = Result { try source.readExactly(count: Self.chunk, at: Int64(offset)) }
                if other == index {
                    #expect(throws: error) { try bytes.get() }
                } else {
                    #expect(try bytes.get().elementsEqual(plain[offset..<offset + Self.chunk]))
                }
            }
        }
    }

    @Test("Chunks in the wrong order are refused")
    func swapped() throws {
        var random = Pseudorandom(seed: 8)
        var file = try file(random.bytes(3 * Self.chunk))
        let start = try headerLength(file)
        let sealed = Self.chunk + 16
        let first = Array(file[start..<start + sealed])
        let second = Array(file[start + sealed..<start + 2 * sealed])
        file.replaceSubrange(start..<start + 2 * sealed, with: second + first)
        #expect(throws: AgeError.damaged("folder/X.age", chunk: 0, of: 3)) {
            try decrypted(file, with: [identity])
        }
    }

    @Test("Two encrypted files with the same content have no bytes in common")
    func unlike() throws {
        let plain = [UInt8](repeating: 0, count: 1000)
        let (first, second) = (try file(plain), try file(plain))
        let start = try headerLength(first)
        #expect(!first[(start - 16)...].elementsEqual(second[(start - 16)...]))
        #expect(!first.suffix(900).elementsEqual(second.suffix(900)))
    }
}
