/// A value in force, to be shown.
enum ShownValue: Encodable, Equatable {
    case text(String)
    case number(Int)
    case boolean(Bool)
    case list([String])
    /// It is not set.
    case none

    static func duration(_ duration: Duration) -> ShownValue {
        let seconds = Int(duration.components.seconds)
        for (unit, size) in [("d", 86_400), ("h", 3600), ("m", 60)]
        where seconds != 0 && seconds % size == 0 { return .text("\(seconds / size)\(unit)") }
        return .text("\(seconds)s")
    }

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

    /// As a person reads it; a list has a line for each item.
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
