/// One way to the file key: how it was wrapped, and the wrapped key.
struct Stanza: Equatable, Sendable {
    /// The kind first, then what that kind needs.
    var arguments: [String]
    var body: [UInt8]

    var kind: String { arguments[0] }

    /// Its lines in the header.
    var encoded: [UInt8] {
        var text = Array("-> \(arguments.joined(separator: " "))\n".utf8)
        var rest = body[...]
        while true {
            let line = rest.prefix(Self.bytesInLine)
            rest = rest.dropFirst(line.count)
            text += Array(Base64.encode(line).utf8) + [UInt8(ascii: "\n")]
            // The last line is shorter than the others, if need be empty.
            if line.count < Self.bytesInLine { return text }
        }
    }

    static let bytesInLine = 48
    static let charactersInLine = 64
}

extension Stanza {
    /// Returns an argument's bytes.
    ///
    /// - Throws: `Fault` if it is not the only form of that many bytes.
    func bytes(ofArgument index: Int, count: Int) throws -> [UInt8] {
        guard let bytes = Base64.decode(Array(arguments[index].utf8)), bytes.count == count else {
            throw Fault(reason: "an argument of '\(kind)' is not \(count) bytes in base64")
        }
        return bytes
    }

    /// Throws unless it has that many arguments beside its kind, and a body as a wrapped key has.
    ///
    /// The length of the body is looked at first: a longer one could be made to open with several keys.
    func check(arguments count: Int) throws {
        guard arguments.count == count + 1 else {
            throw Fault(reason: "'\(kind)' has \(arguments.count - 1) arguments, not \(count)")
        }
        guard body.count == FileKey.size + FileKey.tagSize else {
            throw Fault(reason: "the body of '\(kind)' has \(body.count) bytes")
        }
    }

    /// What is wrong with a stanza or a header; the file is named where it is caught.
    struct Fault: Error {
        var reason: String
    }
}
