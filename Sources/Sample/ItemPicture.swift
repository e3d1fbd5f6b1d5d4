internal import Files

/// A picture of an item: a fruit on a table.
///
/// The same name always gives the same picture.
struct ItemPicture {
    private struct Colour {
        var red: Int
        var green: Int
        var blue: Int
    }

    private let seed: UInt64
    private let fruit: Colour
    private let table: Colour

    init(of name: String) {
        let bytes = Array(name.utf8).withUnsafeBytes { Digest(of: $0) }.bytes.map { Int($0) }
        seed = bytes[..<8].reduce(1) { $0 << 8 | UInt64($1) } | 1
        fruit = Colour(
            red: 160 + bytes[8] % 96,
            green: 80 + bytes[9] % 176,
            blue: bytes[10] % 96
        )
        table = Colour(
            red: 40 + bytes[11] % 64,
            green: 32 + bytes[12] % 64,
            blue: 64 + bytes[13] % 64
        )
    }

    /// The photo, about 100 kB that hardly compress, since it is as grainy as photos taken in the dark.
    var photo: [UInt8] { file(width: 192, height: 174, isGrainy: true) }

    /// The thumbnail, about 3 kB.
    var thumbnail: [UInt8] { file(width: 32, height: 29, isGrainy: false) }

    private func file(width: Int, height: Int, isGrainy: Bool) -> [UInt8] {
        let count = height * (1 + 3 * width)
        let rows = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var noise = seed
            var next = 0
            for y in 0..<height {
                buffer[next] = 0
                next &+= 1
                var x = 0
                while x < width {
                    let colour = colour(x: x, y: y, width: width, height: height)
                    // The noise is Xorshift's (Marsaglia 2003).
                    noise ^= noise &<< 13
                    noise ^= noise &>> 7
                    noise ^= noise &<< 17
                    buffer[next] = Self.shade(colour.red, noise, isGrainy)
                    buffer[next &+ 1] = Self.shade(colour.green, noise &>> 8, isGrainy)
                    buffer[next &+ 2] = Self.shade(colour.blue, noise &>> 16, isGrainy)
                    next &+= 3
                    x &+= 1
                }
            }
            initialized = count
        }
        return PNG.file(width: width, height: height, rows: rows)
    }

    /// Returns the colour of a pixel: of the fruit, which is lit from above, or of the table.
    private func colour(x: Int, y: Int, width: Int, height: Int) -> Colour {
        let across = 2 &* x &- width
        let down = 2 &* y &- height
        let radius = height &* 3 / 4
        let isFruit = across &* across &+ down &* down < radius &* radius
        let light = 200 &- (isFruit ? 48 : 16) &* down / height
        let colour = isFruit ? fruit : table
        return Colour(
            red: (colour.red &* light) &>> 8,
            green: (colour.green &* light) &>> 8,
            blue: (colour.blue &* light) &>> 8
        )
    }

    private static func shade(_ value: Int, _ noise: UInt64, _ isGrainy: Bool) -> UInt8 {
        UInt8(truncatingIfNeeded: isGrainy ? value &- (value &>> 2) &+ Int(noise & 63) : value)
    }
}
