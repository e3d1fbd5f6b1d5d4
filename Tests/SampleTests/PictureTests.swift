import Files
import SystemPackage
import TestSupport
import Testing

@testable import Sample

@Suite("Pictures of sample items")
struct PictureTests {
    /// Reads a PNG as its standard says, and prints its width, its height and its content's CRC.
    private static let reader = """
        import struct, sys, zlib
        data = sys.stdin.buffer.read()
        assert data[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
        place, chunks = 8, []
        while place < len(data):
            length, kind = struct.unpack(">I4s", data[place:place + 8])
            body = data[place + 8:place + 8 + length]
            assert struct.unpack(">I", data[place + 8 + length:][:4])[0] == zlib.crc32(kind + body)
            chunks.append((kind, body))
            place += length + 12
        assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
        width, height, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
        assert rest == [8, 2, 0, 0, 0]
        rows = zlib.decompress(chunks[1][1])
        assert len(rows) == height * (1 + 3 * width) and not any(rows[::1 + 3 * width])
        print(width, height, zlib.crc32(rows))
        """

    private func read(_ picture: [UInt8]) throws -> [Int] {
        try Tool.check("python3", ["-c", Self.reader], input: picture).split(separator: " ")
            .compactMap { Int($0.trimmingPrefix(" ").filter(\.isNumber)) }
    }

    @Test(
        "The pictures are PNG files, and the thumbnail is smaller",
        .enabled(if: Tool.isInstalled("python3"))
    )
    func format() throws {
        let picture = ItemPicture(of: "Apples")
        let photo = try read(picture.photo)
        #expect(photo.prefix(2) == [192, 174])
        #expect(try read(picture.thumbnail).prefix(2) == [32, 29])
        #expect(picture.photo.count > 100_000 && picture.thumbnail.count < 3_000)
    }

    @Test("One name always gives the same picture, and other names give other pictures")
    func names() {
        #expect(ItemPicture(of: "Apples").photo == ItemPicture(of: "Apples").photo)
        #expect(ItemPicture(of: "Apples").thumbnail == ItemPicture(of: "Apples").thumbnail)
        let names = (1...20).map { "Test Item \($0)" }
        #expect(Set(names.map { ItemPicture(of: $0).thumbnail }).count == 20)
        #expect(ItemPicture(of: "Apples").photo != ItemPicture(of: "Pears").photo)
    }
}
