internal import Remotes

/// A value in force, for printing.
enum ShownValue: Encodable, Equatable {
    case text(String)
    case number(Int)
    case boolean(Bool)
    case list([String])
    /// The value of an unset setting.
    case none

    static func duration(_ duration: Duration) -> ShownValue {
        let seconds = Int(duration.components.seconds)
        for (unit, size) in [("d", 86_400), ("h", 3600), ("m", 60)]
        where seconds != 0 && seconds % size == 0 { return .text("\(seconds / size)\(unit)") }
        return .text("\(seconds)s")
    }

    /// Returns an address without its secrets.
    static func address(_ address: String) -> ShownValue { .text(RemoteAddress(address).shown) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .boolean(let boolean): try container.encode(boolean)
        case .list(let list): try container.encode(list)
        case .none: try container.encodeNil()
        }
    }

    /// The value as lines for people, one for each item of a list.
    var lines: [String] {
        switch self {
        case .text(let text): [text]
        case .number(let number): ["\(number)"]
        case .boolean(let boolean): ["\(boolean)"]
        case .list(let list): list
        case .none: []
        }
    }
}
