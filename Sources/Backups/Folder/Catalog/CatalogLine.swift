internal import Foundation

/// Fields in one line, separated by bars.
///
/// A hundred thousand backups are read in about a second if each is one string. A JSON decoder takes many times as long
/// for objects with as many keys.
struct CatalogLine {
    private static let bar = UInt8(ascii: "|")
    private static let escape = UInt8(ascii: "%")
    /// The field of an empty text; an empty field is no text.
    private static let empty = "%"

    private var fields: [Substring] = []
    private var place: DecodingError.Context?

    init() {}

    /// Reads a line; each field is then taken in the order in which it was added.
    init(from decoder: any Decoder) throws {
        let line = try decoder.singleValueContainer().decode(String.self)
        fields = line.utf8.split(separator: Self.bar, omittingEmptySubsequences: false)
            .reversed().map { Substring($0) }
        place = .init(codingPath: decoder.codingPath, debugDescription: "a line of other fields")
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(fields.joined(separator: "|"))
    }

    mutating func add(_ text: String?) {
        guard let text, !text.isEmpty else {
            return fields.append(text == nil ? "" : Substring(Self.empty))
        }
        let isPlain = !text.utf8.contains { $0 == Self.bar || $0 == Self.escape }
        fields.append(
            Substring(
                isPlain ? text : text.replacing("%", with: "%25").replacing("|", with: "%7C")
            )
        )
    }

    mutating func add(_ number: (some BinaryInteger)?) { add(number.map { String($0) }) }

    mutating func add(_ flag: Bool) { add(flag ? "1" : nil) }

    mutating func add(value: (some Encodable)?) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        add(try value.map { String(decoding: try encoder.encode($0), as: UTF8.self) })
    }

    /// Takes the next field; `nil` if it has no text.
    mutating func text() throws -> String? {
        guard let field = fields.popLast() else { throw damaged }
        if field.isEmpty { return nil }
        guard field.utf8.contains(Self.escape) else { return String(field) }
        if field == Self.empty { return "" }
        return String(field).replacing("%7C", with: "|").replacing("%25", with: "%")
    }

    mutating func number<Number: FixedWidthInteger>() throws -> Number? {
        try text().map { text in
            guard let number = Number(text) else { throw damaged }
            return number
        }
    }

    mutating func flag() throws -> Bool { try text() != nil }

    mutating func value<Value: Decodable>() throws -> Value? {
        try text().map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }

    /// Whether all fields were taken.
    var isAtEnd: Bool { fields.isEmpty }

    /// Checks that all fields were taken.
    func end() throws {
        guard fields.isEmpty else { throw damaged }
    }

    var damaged: DecodingError {
        .dataCorrupted(place ?? .init(codingPath: [], debugDescription: "no line"))
    }
}
