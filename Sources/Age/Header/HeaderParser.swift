internal import Files
internal import SystemPackage

/// A strict parser of headers, which accepts only the canonical form.
struct HeaderParser {
    /// An error for too few bytes.
    struct Incomplete: Error {}

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the header of a file.
    ///
    /// - Throws: `AgeError`; what the source throws.
    static func read(_ source: any ByteSource, named path: FilePath) throws -> Header {
        let size = try source.size
        var count = Int(min(size, 4096))
        while true {
            let bytes = try source.readExactly(count: count, at: 0)
            guard bytes.starts(with: Header.versionLine.utf8) else {
                throw refusal(bytes, path)
            }
            do {
                var parser = HeaderParser(bytes)
                return try parser.parse()
            } catch let fault as Stanza.Fault {
                throw AgeError.badHeader(path, reason: fault.reason)
            } catch is Incomplete {
                guard count < size else {
                    throw AgeError.badHeader(path, reason: "it has no end")
                }
                guard count < Header.limit else {
                    let reason = "it has more than \(Header.limit >> 10) KiB"
                    throw AgeError.badHeader(path, reason: reason)
                }
                count = Int(min(size, Int64(count) * 4))
            }
        }
    }

    private static func refusal(_ bytes: [UInt8], _ path: FilePath) -> AgeError {
        if bytes.starts(with: "age-encryption.org/".utf8) {
            return .badHeader(path, reason: "its version is not known")
        }
        return .notEncrypted(path)
    }

    private mutating func parse() throws -> Header {
        guard try line().elementsEqual(Header.versionLine.utf8) else {
            throw Stanza.Fault(reason: "its version is not known")
        }
        var stanzas: [Stanza] = []
        while true {
            let start = position
            let line = try line()
            if line.starts(with: "---".utf8) {
                guard !stanzas.isEmpty else { throw Stanza.Fault(reason: "it has no recipients") }
                guard line.dropFirst(3).first == UInt8(ascii: " "),
                    let code = Base64.decode(line.dropFirst(4)), code.count == 32
                else { throw Stanza.Fault(reason: "its last line is not an authentication code") }
                return Header(
                    stanzas: stanzas,
                    authenticated: Array(bytes[..<(start + 3)]),
                    code: code,
                    length: position
                )
            }
            stanzas.append(Stanza(arguments: try arguments(line), body: try body()))
        }
    }

    private func arguments(_ line: ArraySlice<UInt8>) throws -> [String] {
        guard line.starts(with: "-> ".utf8) else {
            throw Stanza.Fault(reason: "a line is not the beginning of a stanza")
        }
        return try line.dropFirst(3).split(
            separator: UInt8(ascii: " "),
            omittingEmptySubsequences: false
        )
        .map { argument in
            guard !argument.isEmpty, argument.allSatisfy({ 0x21...0x7E ~= $0 }) else {
                throw Stanza.Fault(reason: "an argument is empty or has strange letters")
            }
            return String(decoding: argument, as: UTF8.self)
        }
    }

    private mutating func body() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = try line()
            guard line.count <= Stanza.charactersInLine, let bytes = Base64.decode(line) else {
                throw Stanza.Fault(reason: "a line of a stanza is not base64")
            }
            body += bytes
            if line.count < Stanza.charactersInLine { return body }
        }
    }

    private mutating func line() throws -> ArraySlice<UInt8> {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else {
            throw Incomplete()
        }
        defer { position = end + 1 }
        return bytes[position..<end]
    }
}
