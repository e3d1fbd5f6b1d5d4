/// A device's description of itself: its name, the clocks that it has received, and its earlier ids.
public struct DeviceCard: Document {
    public static let kind = FileKind.card

    /// The device's name as a person gave it: any text of at most 1 KiB.
    ///
    /// Escape it before printing.
    public var name: String
    /// The program that wrote the card, and its version.
    public var program: String
    public var schema: SchemaID
    /// The greatest clock received from each device; rising by device.
    public var seen: [SeenClock]
    /// The ids that this device had before.
    public var was: [DeviceID]
    /// The forgotten device that this card is about, if any.
    public var gone: DeviceID?

    public init(
        name: String,
        program: String,
        schema: SchemaID,
        seen: [SeenClock] = [],
        was: [DeviceID] = [],
        gone: DeviceID? = nil
    ) {
        self.name = name
        self.program = program
        self.schema = schema
        self.seen = seen.sorted { $0.device < $1.device }
        self.was = was
        self.gone = gone
    }

    /// The greatest clock in it.
    public var latest: UInt64 { seen.map(\.clock).max() ?? 0 }

    private enum CodingKeys: String, CodingKey {
        case name, program, schema, seen, was, gone
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.decode(String.self, forKey: .name)
        program = try values.decode(String.self, forKey: .program)
        schema = try values.identifier(.schema)
        let seen = try values.decodeIfPresent([String: String].self, forKey: .seen) ?? [:]
        self.seen = try seen.map { device, clock in
            guard let device = DeviceID(hex: device), clock.utf8.count == 16,
                let clock = UInt64(lowerHex: clock.utf8)
            else { throw FormatBreach("it has an impossible device or clock") }
            return SeenClock(device: device, clock: clock)
        }.sorted { $0.device < $1.device }
        was = try values.identifiers(.was)
        gone = values.contains(.gone) ? try values.identifier(.gone) : nil
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(program, forKey: .program)
        try values.encode(schema.description, forKey: .schema)
        let pairs = seen.map { ($0.device.description, $0.clock.lowerHex) }
        try values.encode(Dictionary(pairs) { max($0, $1) }, forKey: .seen)
        try values.encode(was.map(\.description), forKey: .was)
        try values.encodeIfPresent(gone?.description, forKey: .gone)
    }

    public func check() throws {
        guard name.utf8.count <= maximumNameLength, program.utf8.count <= maximumNameLength else {
            throw FormatBreach("its name is over 1 KiB")
        }
        guard seen.count <= ChangeHeader.maximumDevices, was.count <= ChangeHeader.maximumDevices,
            seen.allSatisfy({ $0.clock < HybridClock.limit })
        else { throw FormatBreach("it has too many devices, or a clock beyond its limit") }
    }
}
