internal import Changes

/// A binary property list as a flat table of objects that refer to each other by index.
///
/// Reading follows no references, so neither depth nor cycles matter. Together the objects hold no more bytes than
/// the input, however often it refers to them.
struct PropertyList {
    enum Object: Equatable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case date(Double)
        case data([UInt8])
        case text(String)
        /// An index of an object of a keyed archive.
        case uid(Int)
        /// The indices of the elements of an array or a set.
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    /// The greatest length of a list, in bytes.
    static let maximumSize = 16 << 20
    /// The greatest number of objects.
    static let maximumCount = 1 << 18

    let objects: [Object]
    /// The index of the top object.
    let top: Int

    /// Reads a list.
    ///
    /// - Throws: `FormatBreach`.
    init(_ bytes: [UInt8]) throws(FormatBreach) {
        var reader = try Reader(bytes)
        var objects: [Object] = []
        objects.reserveCapacity(reader.count)
        for number in 0..<reader.count { objects.append(try reader.object(number)) }
        self.objects = objects
        top = reader.top
    }
}

/// A reader of the objects of a list, at the offsets in its trailer.
private struct Reader {
    let bytes: [UInt8]
    let count: Int
    let top: Int
    private let offsetSize: Int
    private let placeSize: Int
    private let table: Int
    /// The number of bytes that objects may still hold.
    private var room: Int

    init(_ bytes: [UInt8]) throws(FormatBreach) {
        let trailer = bytes.count - 32
        guard trailer >= 9, bytes.count <= PropertyList.maximumSize,
            bytes.starts(with: Array("bplist0".utf8))
        else { throw FormatBreach("it is no binary property list") }
        self.bytes = bytes
        room = bytes.count
        offsetSize = Int(bytes[trailer + 6])
        placeSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(placeSize) else {
            throw FormatBreach("its numbers have no length")
        }
        func number(at place: Int) -> UInt64 {
            bytes[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        let (objects, root) = (number(at: trailer + 8), number(at: trailer + 16))
        let start = number(at: trailer + 24)
        guard objects <= UInt64(PropertyList.maximumCount), root < objects,
            start <= UInt64(trailer), Int(objects) * offsetSize <= trailer - Int(start)
        else { throw FormatBreach("its table of objects is not in it") }
        (count, top, table) = (Int(objects), Int(root), Int(start))
    }

    mutating func object(_ number: Int) throws(FormatBreach) -> PropertyList.Object {
        var place = try unsigned(at: table + number * offsetSize, size: offsetSize)
        let marker = try byte(at: place)
        place += 1
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0: return low == 8 || low == 9 ? .boolean(low == 9) : .null
        case 1: return .integer(try integer(at: place, exponent: low))
        case 2: return .real(try real(at: place, exponent: low))
        case 3: return .date(try real(at: place, exponent: 3))
        case 4:
            let length = try length(low, &place)
            return .data(Array(try slice(at: place, count: length)))
        case 5:
            let length = try length(low, &place)
            return .text(String(decoding: try slice(at: place, count: length), as: UTF8.self))
        case 6:
            let length = try length(low, &place)
            return .text(try wideText(at: place, count: length))
        case 8: return .uid(try unsigned(at: place, size: low + 1))
        case 10, 12:
            let length = try length(low, &place)
            return .array(try places(at: place, count: length))
        case 13:
            let length = try length(low, &place)
            let keys = try places(at: place, count: length)
            let values = try places(at: place + length * placeSize, count: length)
            return .dictionary(keys: keys, values: values)
        default: throw FormatBreach("an object is of an unknown kind")
        }
    }

    // MARK: - Parts of objects

    private func byte(at place: Int) throws(FormatBreach) -> UInt8 {
        guard bytes.indices.contains(place) else { throw FormatBreach("it ends too early") }
        return bytes[place]
    }

    /// Takes the bytes of an object.
    private mutating func slice(
        at place: Int,
        count: Int
    ) throws(FormatBreach) -> ArraySlice<UInt8> {
        guard place >= 0, count >= 0, count <= bytes.count, place <= bytes.count - count else {
            throw FormatBreach("it ends too early")
        }
        guard count <= room else { throw FormatBreach("its objects hold more than it has") }
        room -= count
        return bytes[place..<place + count]
    }

    /// Reads a number that is an index, an offset or a length.
    private func unsigned(at place: Int, size: Int) throws(FormatBreach) -> Int {
        guard place >= 0, place <= bytes.count - size else {
            throw FormatBreach("it ends too early")
        }
        var number: UInt64 = 0
        for byte in bytes[place..<place + size] {
            guard number >> 56 == 0 else { throw FormatBreach("a number is too great") }
            number = number << 8 | UInt64(byte)
        }
        guard number < 1 << 32 else { throw FormatBreach("a number is too great") }
        return Int(number)
    }

    /// Reads the number of an object's elements: from its marker, or from the integer that follows.
    private func length(_ low: Int, _ place: inout Int) throws(FormatBreach) -> Int {
        guard low == 15 else { return low }
        let marker = try byte(at: place)
        guard marker >> 4 == 1, marker & 0x0F <= 3 else {
            throw FormatBreach("a length is no number")
        }
        let size = 1 << Int(marker & 0x0F)
        let length = try unsigned(at: place + 1, size: size)
        place += 1 + size
        return length
    }

    private func integer(at place: Int, exponent: Int) throws(FormatBreach) -> Int64 {
        guard exponent <= 4 else { throw FormatBreach("a number is too long") }
        let size = 1 << exponent
        guard place <= bytes.count - size else { throw FormatBreach("it ends too early") }
        // Of sixteen bytes only the lower half counts; numbers of fewer than eight bytes have no sign.
        let number = bytes[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(bitPattern: number)
    }

    private func real(at place: Int, exponent: Int) throws(FormatBreach) -> Double {
        let bits = UInt64(bitPattern: try integer(at: place, exponent: exponent))
        switch exponent {
        case 2: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 3: return Double(bitPattern: bits)
        default: throw FormatBreach("a number has a strange length")
        }
    }

    private mutating func wideText(at place: Int, count: Int) throws(FormatBreach) -> String {
        guard count <= bytes.count / 2 else { throw FormatBreach("it ends too early") }
        let slice = Array(try slice(at: place, count: count * 2))
        let units = (0..<count).map { UInt16(slice[2 * $0]) << 8 | UInt16(slice[2 * $0 + 1]) }
        return String(decoding: units, as: UTF16.self)
    }

    private mutating func places(at place: Int, count: Int) throws(FormatBreach) -> [Int] {
        guard count <= bytes.count / placeSize else { throw FormatBreach("it ends too early") }
        _ = try slice(at: place, count: count * placeSize)
        var places: [Int] = []
        places.reserveCapacity(count)
        for number in 0..<count {
            let object = try unsigned(at: place + number * placeSize, size: placeSize)
            guard object < self.count else { throw FormatBreach("an object is not in it") }
            places.append(object)
        }
        return places
    }
}
