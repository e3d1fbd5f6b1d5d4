/// An encoder for PNG pictures (https://www.w3.org/TR/png-3/) with eight bits of red, green and blue.
///
/// The pixels are in stored blocks (RFC 1951, section 3.2.4), since a photo's grain hardly compresses. Pointers and
/// wrapping operators keep it fast without optimization.
enum PNG {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The maximum length of a stored block.
    private static let blockLimit = 65_535

    /// Returns the file of a picture.
    ///
    /// - Parameters:
    ///   - width: the number of pixels in a row.
    ///   - height: the number of rows.
    ///   - rows: each row's filter type, which is 0, and three bytes for each of its pixels.
    /// - Returns: the bytes of the file.
    static func file(width: Int, height: Int, rows: [UInt8]) -> [UInt8] {
        // The values are: 8 bits per channel, truecolour, the only existing methods, and no interlacing.
        let header = bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0]
        return signature + chunk("IHDR", header) + chunk("IDAT", stream(of: rows))
            + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bigEndian(data.count) + body + bigEndian(Int(checksum(of: body)))
    }

    /// Returns a zlib stream (RFC 1950) with uncompressed bytes.
    private static func stream(of bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + blockLimit, bytes.count)
            let count = end - start
            let length = [UInt8(count & 0xFF), UInt8(count >> 8)]
            stream += [end == bytes.count ? 1 : 0] + length + length.map { ~$0 }
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        return stream + bigEndian(Int(adler(of: bytes)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) }
    }

    /// Returns the Adler-32 checksum at the end of a zlib stream (RFC 1950, section 9).
    private static func adler(of bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                low = (low &+ UInt32(bytes[index])) % 65_521
                high = (high &+ low) % 65_521
                index &+= 1
            }
        }
        return high << 16 | low
    }

    /// Returns the CRC-32 checksum at the end of a chunk (PNG, annex D).
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        checksumTable.withUnsafeBufferPointer { table in
            bytes.withUnsafeBufferPointer { bytes in
                var index = 0
                while index < bytes.count {
                    let place = Int((value ^ UInt32(bytes[index])) & 0xFF)
                    value = table[place] ^ (value &>> 8)
                    index &+= 1
                }
            }
        }
        return ~value
    }

    private static let checksumTable: [UInt32] = (0..<256).map { (byte: UInt32) in
        (0..<8).reduce(byte) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
        }
    }
}
