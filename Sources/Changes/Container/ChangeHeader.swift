public import Files

/// The greatest clock of another device that a device had received.
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
    /// The hybrid clock's reading at the capture; the body's stamps are stored as differences from it.
    public var clock: UInt64
    /// The wall clock at the capture, in milliseconds since 1970.
    ///
    /// It is only for messages to people.
    public var wall: UInt64
    /// The file's number among the files of its device.
    public var sequence: UInt64
    /// The number of this part, from 0, less than `parts`.
    public var part: UInt64
    public var parts: UInt64
    public var schema: SchemaID
    /// The program that wrote the file, and its version.
    public var program: String
    /// The clocks received from other devices, if they rose since the device's last file; rising by device.
    public var seen: [SeenClock]
    /// The ids of the files that this one replaces.
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

    /// The greatest clock in it.
    public var latest: UInt64 { seen.reduce(clock) { max($0, $1.clock) } }

    /// The greatest number of devices that a file may name.
    public static let maximumDevices = 4096

    init(reading header: [UInt8]) throws(FormatBreach) {
        // `withUnsafeBytes` does not rethrow a typed error.
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
        // A later version may extend the header, so any further bytes are ignored.
    }

    /// Returns the header's bytes.
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
