import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A home directory with a store, a file beside it that no compression changes, and a key.
struct EncryptedHome {
    /// Words that are in the store, and must be nowhere else.
    static let plaintext = "Zwetschgenknoedel"
    /// Bytes that are in the file, and must be nowhere else; a plain archive has them as they are.
    private static let noise = Pseudorandom.noise

    let program: Program
    let key: String
    let recipient: String

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        key = program.sandbox.path("key.txt").string
        let made = try program.run("key", "generate", "--output", key)
        #expect(made.status == 0, "\(made.errors)")
        recipient = String(made.text.dropLast())
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        _ = try program.run("items", "add", Self.plaintext)
        try program.sandbox.write(Self.noise, to: "Stores/noise")
    }

    /// Makes a backup for the key.
    func encrypt(_ more: [String] = []) throws -> Tool.Outcome {
        try program.run(["backup", "--recipient", recipient] + more)
    }

    /// An encrypted archive in the folder.
    func archive() throws -> FilePath {
        let names = try Directory.open(program.sandbox.path("Remote")).names().map(\.description)
        let name = try #require(names.first { $0.hasSuffix(".zip.age") })
        return program.sandbox.path("Remote").appending(name)
    }

    /// The files outside of the stores directory in which the words are, in plain or in a deflated archive.
    func leaks() throws -> [String] {
        let mark = Data(Self.noise[20_000..<20_064])
        var found: [String] = []
        try Directory.open(program.sandbox.path).walk(failed: { throw $1 }) { file in
            if file.path.description == "Stores" { return .skip }
            if case .file = file.info.kind {
                let bytes = try program.sandbox.read(file.path.description)
                let text = Data(bytes)
                let words = [Self.plaintext, "Grocery-Dude.sqlite"]
                // Its own memory may name stores; the table is in the documentation.
                let isMemory = file.path.description.hasPrefix(".cache/")
                for word in isMemory ? [Self.plaintext] : words
                where text.range(of: Data(word.utf8)) != nil {
                    found.append("\(file.path): \(word)")
                }
                if text.range(of: mark) != nil { found.append("\(file.path): the noise") }
                // Amid what is encrypted, the mark of a zip may appear by chance.
                if bytes.starts(with: "PK".utf8) { found.append("\(file.path): a zip") }
            }
            return .descend
        }
        return found
    }
}

extension Pseudorandom {
    fileprivate static var noise: [UInt8] {
        var random = Pseudorandom(seed: 77)
        return random.bytes(100_000)
    }
}
