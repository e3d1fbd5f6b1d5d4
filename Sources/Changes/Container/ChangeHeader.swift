public import Files

/// How far a device had heard another.
public struct SeenClock: Hashable, Sendable {
    public let device: DeviceID
    public let clock: UInt64

    public init(device: DeviceID, clock: UInt64) {
        self.device = device
        self.clock = clock
    }
}

/// The header of a change file, a baseline's part, and a baseline's index.
public struct ChangeHeader: Hashable, Sendable {
    public var group: GroupID
    public var device: DeviceID
    /// The hybrid clock's reading at the capture; stamps in the body are differences from it.
    public var clock: UInt64
    /// The wall clock at the capture, in milliseconds since 1970: to tell people, and for nothing else.
    public var wall: UInt64
    /// The how many-th file of its device it is.
    public var sequence: UInt64
    /// The how many-th part it is, from 0, of so many.
    public var part: UInt64
    public var parts: UInt64
    public var schema: SchemaID
    /// The program that wrote it, and its version.
    public var program: String
    /// How far other devices had been heard, where that rose since the device's last file; rising by device.
    public var seen: [SeenClock]
    /// The files that this one stands for.
    public var replaces: [Digest]

    public init(
        group: GroupID,
        device: DeviceID,
        clock: UInt64,
        wall: UInt64,
        sequence: UInt64,
        part: UInt64 = 0,
        parts: UInt64 = 1,
        schema: SchemaID = .zero,
        program: String,
        seen: [SeenClock] = [],
        replaces: [Digest] = []
    ) {
        self.group = group
        self.device = device
        self.clock = clock
        self.wall = wall
        self.sequence = sequence
        self.part = part
        self.parts = parts
        self.schema = schema
        self.program = program
        self.seen = seen.sorted { $0.device < $1.device }
        self.replaces = replaces
    }

    /// The most devices that a file may name.
    public static let maximumDevices = 4096

    init(reading header: [UInt8]) throws(FormatBreach) {
        // withUnsafeBytes cannot hand on a typed error.
        let result = header.withUnsafeBytes { bytes -> Result<ChangeHeader, FormatBreach> in
            var reader = ByteReader(bytes)
            do throws(FormatBreach) {
                return .success(try ChangeHeader(&reader))
            } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    private init(_ reader: inout ByteReader) throws(FormatBreach) {
        group = try reader.identifier()
        device = try reader.identifier()
        clock = try reader.clock()
        wall = try reader.varint()
        sequence = try reader.varint()
        part = try reader.varint()
        parts = try reader.varint()
        schema = try reader.identifier()
        let program = try reader.bytes()
        guard program.count <= maximumNameLength,
            let text = String(validating: program, as: UTF8.self)
        else { throw FormatBreach("the program's name is too long, or is no UTF-8") }
        self.program = text
        let seenCount = try reader.count(of: 24, atMost: Self.maximumDevices, "devices")
        var seen: [SeenClock] = []
        seen.reserveCapacity(seenCount)
        for _ in 0..<seenCount {
            let device: DeviceID = try reader.identifier()
            guard device > seen.last?.device ?? .zero else {
                throw FormatBreach("its devices are not in order")
            }
            seen.append(SeenClock(device: device, clock: try reader.clock()))
        }
        self.seen = seen
        let replacesCount = try reader.count(of: 32, "files that it replaces")
        var replaces: [Digest] = []
        replaces.reserveCapacity(replacesCount)
        for _ in 0..<replacesCount { replaces.append(try reader.digest()) }
        self.replaces = replaces
        guard !device.isZero, part < parts else {
            throw FormatBreach("its device or its part is none")
        }
        // A later version may add to the header: what follows is ignored.
    }

    /// Its bytes.
    ///
    /// - Throws: `ChangeError.beyondLimit`.
    func encoded() throws -> [UInt8] {
        guard clock < HybridClock.limit, !device.isZero, part < parts,
            program.utf8.count <= maximumNameLength, seen.count <= Self.maximumDevices,
            seen.allSatisfy({ $0.clock < HybridClock.limit && !$0.device.isZero })
        else { throw ChangeError.beyondLimit("a header is beyond its limits") }
        var writer = ByteWriter()
        writer.identifier(group)
        writer.identifier(device)
        writer.bigEndian(clock)
        for number in [wall, sequence, part, parts] { writer.varint(number) }
        writer.identifier(schema)
        writer.bytes(Array(program.utf8))
        writer.varint(UInt64(seen.count))
        for entry in seen.sorted(by: { $0.device < $1.device }) {
            writer.identifier(entry.device)
            writer.bigEndian(entry.clock)
        }
        writer.varint(UInt64(replaces.count))
        for digest in replaces { writer.digest(digest) }
        return writer.bytes
    }
}
