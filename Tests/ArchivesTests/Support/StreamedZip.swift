@testable internal import Archives
internal import CZlib
internal import TestSupport
internal import Testing

/// A zip read as a program reads it from a pipe: one local record after the other, without the directory.
struct StreamedZip {
    struct Entry: Equatable {
        var name: String
        var content: [UInt8]
        var hasDescriptor: Bool
    }

    private(set) var entries: [Entry] = []
    /// The offset at which the directory begins.
    private(set) var end = 0

    /// Reads all entries; every data descriptor has to be right.
    init(_ archive: [UInt8]) throws {
        while archive.uint32(at: end) == ZipRecords.localSignature {
            let record = end
            let nameLength = Int(archive.uint16(at: record + 26))
            let nameStart = record + ZipRecords.localLength
            let extra = nameStart + nameLength
            let start = extra + Int(archive.uint16(at: record + 28))
            let isWide = archive.uint32(at: record + 22) == UInt32.max
            #expect(isWide == (archive.uint16(at: extra) == ZipRecords.zip64Extra))
            let hasDescriptor = archive.uint16(at: record + 6) & ZipRecords.descriptorFlag != 0
            var content: [UInt8]
            if hasDescriptor {
                #expect(archive.uint16(at: record + 8) == ZipRecords.deflated)
                #expect(archive.uint32(at: record + 14) == 0)
                #expect(archive.uint32(at: record + 18) == (isWide ? .max : 0))
                #expect(archive.uint32(at: record + 22) == (isWide ? .max : 0))
                let length: Int
                (content, length) = try Self.inflate(archive[start...])
                let descriptor = DataDescriptor(
                    checksum: content.withUnsafeBytes { Checksum(of: $0).value },
                    compressedSize: UInt64(length),
                    size: UInt64(content.count),
                    isWide: isWide
                ).encoded()
                end = start + length + descriptor.count
                #expect(Array(archive[(start + length)..<end]) == descriptor)
            } else {
                end = start + Int(archive.uint32(at: record + 18))
                content = Array(archive[start..<end])
                if archive.uint16(at: record + 8) == ZipRecords.deflated {
                    content = try Self.inflate(archive[start..<end]).content
                }
                #expect(content.count == Int(archive.uint32(at: record + 22)))
            }
            entries.append(
                Entry(
                    name: String(decoding: archive[nameStart..<extra], as: UTF8.self),
                    content: content,
                    hasDescriptor: hasDescriptor
                )
            )
        }
        #expect(archive.uint32(at: end) == ZipRecords.centralSignature)
    }

    /// Inflates to the end of the stream with zlib, and returns the number of bytes that were used.
    private static func inflate(
        _ bytes: ArraySlice<UInt8>
    ) throws -> (content: [UInt8], length: Int) {
        var state = z_stream()
        inflateInit2_(&state, -15, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
        defer { inflateEnd(&state) }
        var input = Array(bytes)
        var content: [UInt8] = []
        var output = [UInt8](repeating: 0, count: 1 << 20)
        let status = input.withUnsafeMutableBufferPointer { input in
            state.next_in = input.baseAddress
            state.avail_in = UInt32(input.count)
            var status = Z_OK
            while status == Z_OK {
                let given = output.withUnsafeMutableBufferPointer { output in
                    state.next_out = output.baseAddress
                    state.avail_out = UInt32(output.count)
                    status = CZlib.inflate(&state, Z_NO_FLUSH)
                    return output.count - Int(state.avail_out)
                }
                content += output[..<given]
            }
            return status
        }
        try #require(status == Z_STREAM_END)
        return (content, Int(state.total_in))
    }
}
