/// Writes binary property lists of keyed archives, for tests.
public struct PropertyListWriter {
    /// A value that is in a list.
    public indirect enum Value {
        case boolean(Bool)
        case integer(Int)
        case text(String)
        case uid(Int)
        case array([Value])
        case dictionary([(String, Value)])
    }

    private var objects: [[UInt8]] = []

    /// Writes a keyed archive.
    ///
    /// - Parameter objects: its objects; the first is null, the second the one that all others are for.
    /// - Returns: its bytes.
    public static func archive(_ objects: [Value]) -> [UInt8] {
        write(
            .dictionary([
                ("$version", .integer(100_000)), ("$objects", .array(objects)),
                ("$archiver", .text("NSKeyedArchiver")),
                ("$top", .dictionary([("root", .uid(1))])),
            ])
        )
    }

    /// Writes a list.
    public static func write(_ value: Value) -> [UInt8] {
        var writer = PropertyListWriter()
        let top = writer.add(value)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in writer.objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += number(offset, size: 4) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 2]
        for part in [offsets.count, top, table] { bytes += number(part, size: 8) }
        return bytes
    }

    /// Adds a value, and returns its place.
    private mutating func add(_ value: Value) -> Int {
        let place = objects.count
        objects.append([])
        switch value {
        case .boolean(let isTrue): objects[place] = [isTrue ? 9 : 8]
        case .integer(let value): objects[place] = [0x13] + Self.number(value, size: 8)
        case .uid(let value): objects[place] = [0x83] + Self.number(value, size: 4)
        case .text(let text):
            let bytes = Array(text.utf8)
            objects[place] = Self.head(0x50, bytes.count) + bytes
        case .array(let values):
            let places = values.map { add($0) }
            objects[place] = Self.head(0xA0, places.count) + Self.places(places)
        case .dictionary(let pairs):
            let keys = pairs.map { add(.text($0.0)) }
            let values = pairs.map { add($0.1) }
            objects[place] =
                Self.head(0xD0, pairs.count) + Self.places(keys) + Self.places(values)
        }
        return place
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0x0F, 0x12] + number(count, size: 4)
    }

    private static func places(_ places: [Int]) -> [UInt8] {
        places.flatMap { number($0, size: 2) }
    }

    private static func number(_ number: Int, size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
    }
}
