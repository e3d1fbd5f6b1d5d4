@testable internal import Age
internal import Files
internal import Foundation
internal import Synchronization
internal import SystemPackage
internal import TestSupport
internal import Testing

/// A sink that keeps all bytes in memory.
final class MemorySink: ByteSink {
    let path: FilePath = "sink"
    private let content = Mutex<[UInt8]>([])

    var bytes: [UInt8] { content.withLock(\.self) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        content.withLock { content in
            precondition(Int(offset) == content.count)
            content += bytes
        }
    }
}

/// Returns a file of these bytes for the recipients.
func encrypted(
    _ plain: [UInt8],
    for recipients: [Recipient],
    threads: Int = 2,
    pieces: Int = 100_000
) throws -> [UInt8] {
    let sink = MemorySink()
    let encrypting = try EncryptingSink(to: sink, for: recipients, threads: threads)
    defer { encrypting.close() }
    try plain.withUnsafeBytes { plain in
        for start in stride(from: 0, to: plain.count, by: pieces) {
            let end = min(plain.count, start + pieces)
            try encrypting.write(
                UnsafeRawBufferPointer(rebasing: plain[start..<end]),
                at: Int64(start)
            )
        }
    }
    let size = try encrypting.finish()
    precondition(Int(size) == sink.bytes.count)
    return sink.bytes
}

/// Opens a file in memory.
func opened(_ bytes: [UInt8], with identities: [Identity]) throws -> DecryptedSource {
    try EncryptedFile(MemorySource(path: "folder/X.age", bytes: bytes)).decrypted(with: identities)
}

/// Returns all of the content of a file in memory.
func decrypted(_ bytes: [UInt8], with identities: [Identity]) throws -> [UInt8] {
    let source = try opened(bytes, with: identities)
    return try source.readExactly(count: Int(source.size), at: 0)
}

/// A file of the test vectors; see Fixtures/README.md.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    /// Bytes, or that many zeros.
    enum Part: Decodable {
        case bytes([UInt8])
        case zeros(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let count = try? container.decode(Int.self) {
                self = .zeros(count)
            } else {
                self = .bytes(try Array(container.decode(Data.self)))
            }
        }
    }

    var name: String
    var expect: String
    var payload: String?
    var identities: [String]?
    var passphrases: [String]?
    var file: [Part]

    var testDescription: String { name }

    var bytes: [UInt8] {
        file.flatMap { part in
            switch part {
            case .bytes(let bytes): bytes
            case .zeros(let count): [UInt8](repeating: 0, count: count)
            }
        }
    }

    func keys() throws -> [Identity] {
        try (identities ?? []).map { try Identity($0) }
            + (passphrases ?? []).compactMap { Passphrase(Array($0.utf8)) }.map { Identity($0) }
    }

    static let all: [Vector] = {
        do {
            return try Fixtures.read("age/vectors.jsonl").split(separator: UInt8(ascii: "\n"))
                .map { try JSONDecoder().decode(Vector.self, from: Data($0)) }
        } catch {
            fatalError("the test vectors cannot be read: \(error)")
        }
    }()
}
