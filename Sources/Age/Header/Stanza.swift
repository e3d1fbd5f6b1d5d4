/// A wrapped file key, with the way in which it was wrapped.
struct Stanza: Equatable, Sendable {
    /// The kind, followed by the kind's arguments.
    var arguments: [String]
    var body: [UInt8]

    var kind: String { arguments[0] }

    /// The lines in the header.
    var encoded: [UInt8] {
        var text = Array("-> \(arguments.joined(separator: " "))\n".utf8)
        var rest = body[...]
        while true {
            let line = rest.prefix(Self.bytesInLine)
            rest = rest.dropFirst(line.count)
            text += Array(Base64.encode(line).utf8) + [UInt8(ascii: "\n")]
            // The last line is shorter than the others, and may be empty.
            if line.count < Self.bytesInLine { return text }
        }
    }

    static let bytesInLine = 48
    static let charactersInLine = 64
}

extension Stanza {
    /// Returns an argument's bytes.
    ///
    /// - Throws: `Fault` if it is not the canonical form of that many bytes.
    func bytes(ofArgument index: Int, count: Int) throws -> [UInt8] {
        guard let bytes = Base64.decode(Array(arguments[index].utf8)), bytes.count == count else {
            throw Fault(reason: "an argument of '\(kind)' is not \(count) bytes in base64")
        }
        return bytes
    }

    /// Throws unless it has so many arguments besides its kind, and the body of a wrapped key.
    ///
    /// The length of the body is checked first: a longer one could be made to open with several keys.
    func check(arguments count: Int) throws {
        guard arguments.count == count + 1 else {
            throw Fault(reason: "'\(kind)' has \(arguments.count - 1) arguments, not \(count)")
        }
        guard body.count == FileKey.size + FileKey.tagSize else {
            throw Fault(reason: "the body of '\(kind)' has \(body.count) bytes")
        }
    }

    /// A fault of a stanza or a header; the catching code adds the file.
    struct Fault: Error {
        var reason: String
    }
}
