@testable internal import Age
internal import CZlib
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

/// Returns these bytes, encrypted for the recipients.
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

/// Opens an encrypted file in memory.
func opened(_ bytes: [UInt8], with identities: [Identity]) throws -> DecryptedSource {
    try EncryptedFile(MemorySource(path: "folder/X.age", bytes: bytes)).decrypted(with: identities)
}

/// Returns the whole content of an encrypted file in memory.
func decrypted(_ bytes: [UInt8], with identities: [Identity]) throws -> [UInt8] {
    let source = try opened(bytes, with: identities)
    return try source.readExactly(count: Int(source.size), at: 0)
}

/// A file of the test vectors: lines with the expected result, an empty line, and the bytes of the encrypted
/// file.
struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    let file: [UInt8]
    private let lines: [(key: String, value: String)]

    private init(_ path: FilePath) throws {
        name = path.lastComponent?.string ?? ""
        let bytes = try File.contents(of: path, limit: 1 << 20)
        let newline = UInt8(ascii: "\n")
        let end = try #require(
            bytes.indices.dropFirst().first { bytes[$0] == newline && bytes[$0 - 1] == newline }
        )
        lines = bytes[..<end].split(separator: newline).map { line in
            let parts = String(decoding: line, as: UTF8.self).split(separator: ": ", maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
        let rest = Array(bytes[(end + 1)...])
        file = lines.contains { $0.key == "compressed" } ? try Self.inflated(rest) : rest
    }

    var testDescription: String { name }

    subscript(key: String) -> String? { lines.first { $0.key == key }?.value }

    var isArmored: Bool { self["armored"] == "yes" }

    func keys() throws -> [Identity] {
        try lines.filter { $0.key == "identity" }.map { try Identity($0.value) }
            + lines.filter { $0.key == "passphrase" }
            .compactMap { Passphrase(Array($0.value.utf8)) }.map { Identity($0) }
    }

    private static func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: 32 << 20)
        var count = uLongf(plain.count)
        let code = uncompress(&plain, &count, bytes, uLong(bytes.count))
        try #require(code == Z_OK)
        return Array(plain[..<Int(count)])
    }

    /// All test vectors; none if the test data is missing.
    static let all: [Vector] = {
        let directory = Fixtures.corpora.appending("age")
        do {
            guard try FileInfo.ifPresent(directory) != nil else { return [] }
            let names = try Directory.open(directory).names().map(\.description).sorted()
            return try names.map { try Vector(directory.appending($0)) }
        } catch {
            fatalError("the test vectors cannot be read: \(error)")
        }
    }()
}
