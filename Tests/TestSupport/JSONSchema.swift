internal import Foundation

/// The part of JSON Schema (https://json-schema.org/draft/2020-12) that the schemas in
/// Documentation/ use; any other keyword is an error, so that none is passed over.
public struct JSONSchema {
    /// A schema that asks for what this cannot check.
    public struct Unsupported: Error {
        public var keyword: String
    }

    private let schema: JSONValue

    /// Reads a schema from a file.
    ///
    /// - Throws: where it cannot be read or is no JSON.
    public init(contentsOf path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        schema = try JSONDecoder().decode(JSONValue.self, from: data)
    }

    /// What is wrong with some JSON; empty where it is as the schema says.
    ///
    /// - Throws: `Unsupported`; where it is no JSON.
    public func faults(in json: [UInt8]) throws -> [String] {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(json))
        return try Self.faults(value, schema, at: "$")
    }

    private static func faults(
        _ value: JSONValue,
        _ schema: JSONValue,
        at path: String
    ) throws -> [String] {
        guard case .object(let rules) = schema else { throw Unsupported(keyword: path) }
        var faults: [String] = []
        for (keyword, rule) in rules {
            switch (keyword, rule) {
            case ("$schema", _), ("title", _), ("properties", _), ("additionalProperties", _): break
            case ("items", _):
                guard case .array(let elements) = value else { break }
                for (index, element) in elements.enumerated() {
                    faults += try self.faults(element, rule, at: "\(path)[\(index)]")
                }
            case ("type", .array(let types)):
                if !types.contains(where: value.isType) { faults.append("\(path): its type") }
            case ("type", .string):
                if !value.isType(rule) { faults.append("\(path): its type") }
            case ("enum", .array(let choices)):
                if !choices.contains(value) { faults.append("\(path) is none of the choices") }
            case ("minimum", .number(let least)):
                if case .number(let number) = value, number < least {
                    faults.append("\(path) is too small")
                }
            case ("format", .string("date-time")):
                if !value.isDateTime { faults.append("\(path) is no time") }
            case ("required", .array(let names)):
                for case .string(let name) in names where value[name] == nil {
                    faults.append("\(path).\(name) is missing")
                }
            default: throw Unsupported(keyword: keyword)
            }
        }
        guard case .object(let members) = value else { return faults }
        for (name, member) in members {
            if let property = schema["properties"]?[name] {
                faults += try self.faults(member, property, at: "\(path).\(name)")
            } else if schema["additionalProperties"] == .bool(false) {
                faults.append("\(path).\(name) is not in the schema")
            }
        }
        return faults
    }
}

/// Any JSON.
private enum JSONValue: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    func isType(_ name: JSONValue) -> Bool {
        switch (name, self) {
        case (.string("null"), .null), (.string("boolean"), .bool), (.string("number"), .number),
            (.string("string"), .string), (.string("array"), .array), (.string("object"), .object):
            true
        case (.string("integer"), .number(let number)): number.rounded() == number
        default: false
        }
    }

    var isDateTime: Bool {
        guard case .string(let text) = self else { return false }
        let pattern = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/#
        return text.wholeMatch(of: pattern) != nil
    }
}
