/// Bech32 (BIP 173) of any length: letters with a checksum, the form of keys.
enum Bech32 {
    /// An error for an invalid text.
    struct Fault: Error {
        var reason: String
    }

    private static let letters = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let separator = UInt8(ascii: "1")
    private static let checksumLength = 6

    /// Returns the prefix, in its original case, and the bytes.
    ///
    /// - Throws: `Fault`.
    static func decode(_ text: String) throws -> (prefix: String, bytes: [UInt8]) {
        let lower = text.lowercased()
        guard text == lower || text == text.uppercased() else {
            throw Fault(reason: "it mixes capital and small letters")
        }
        let characters = Array(lower.utf8)
        guard characters.allSatisfy({ 0x21...0x7E ~= $0 }),
            let end = characters.lastIndex(of: separator), end > 0,
            characters.count - end > checksumLength
        else { throw Fault(reason: "it is cut off") }
        let values = try characters[(end + 1)...].map { character in
            guard let value = letters.firstIndex(of: character) else {
                throw Fault(reason: "it has letters that no key has")
            }
            return UInt8(value)
        }
        guard checksum(characters[..<end], values) == 1 else {
            throw Fault(reason: "a letter is wrong, or some are missing")
        }
        guard let bytes = regroup(values.dropLast(checksumLength), from: 5, to: 8) else {
            throw Fault(reason: "its length is not that of bytes")
        }
        return (String(text.prefix(end)), bytes)
    }

    /// Encodes a lower-case prefix and bytes as lower-case text.
    static func encode(_ prefix: String, _ bytes: some Sequence<UInt8>) -> String {
        let values = regroup(Array(bytes)[...], from: 8, to: 5) ?? []
        let zeros = [UInt8](repeating: 0, count: checksumLength)
        let sum = checksum(Array(prefix.utf8)[...], values + zeros) ^ 1
        let ending = (0..<checksumLength).map { UInt8(sum >> (5 * UInt32(5 - $0)) & 31) }
        let text = (values + ending).map { letters[Int($0)] }
        return prefix + "1" + String(decoding: text, as: UTF8.self)
    }

    private static func checksum(_ prefix: ArraySlice<UInt8>, _ values: [UInt8]) -> UInt32 {
        let generator: [UInt32] = [
            0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3,
        ]
        return (prefix.map { $0 >> 5 } + [0] + prefix.map { $0 & 31 } + values)
            .reduce(UInt32(1)) { sum, value in
                let top = sum >> 25
                return generator.indices.reduce((sum & 0x1ff_ffff) << 5 ^ UInt32(value)) {
                    $0 ^ (top >> UInt32($1) & 1 == 1 ? generator[$1] : 0)
                }
            }
    }

    /// Regroups bits into another size; returns `nil` if a conversion to bytes leaves bits over.
    private static func regroup(
        _ values: ArraySlice<UInt8>,
        from: UInt32,
        to: UInt32
    ) -> [UInt8]? {
        var (bits, count): (UInt32, UInt32) = (0, 0)
        var groups: [UInt8] = []
        for value in values {
            bits = (bits << from | UInt32(value)) & 0xfff
            count += from
            while count >= to {
                count -= to
                groups.append(UInt8(truncatingIfNeeded: bits >> count & (1 << to - 1)))
            }
        }
        let rest = bits & (1 << count - 1)
        guard to == 8 else {
            return count == 0 ? groups : groups + [UInt8(rest << (to - count))]
        }
        return count < from && rest == 0 ? groups : nil
    }
}
