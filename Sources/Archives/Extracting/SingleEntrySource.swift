internal import CLibzip
internal import Files
internal import SystemPackage

/// A zip of one entry for libzip to read (zip_source_function(3)): a local record, the data from the archive, and a
/// directory of one record.
final class SingleEntrySource {
    private let source: any ByteSource
    private let head: [UInt8]
    private let data: Range<Int64>
    private let tail: [UInt8]
    private var position: Int64 = 0
    private var error = zip_error_t()

    private var size: Int64 { Int64(head.count + tail.count) + Int64(data.count) }

    init(_ entry: ArchiveReader.Entry, at offset: Int64, in source: any ByteSource) {
        self.source = source
        data = offset..<(offset + entry.compressedSize)
        let record = EntryRecord(
            name: [UInt8(ascii: "x")],
            method: entry.record.method,
            checksum: entry.record.checksum,
            compressedSize: entry.record.compressedSize,
            size: entry.record.size,
            mode: 0o100600,
            modified: 0,
            offset: 0,
            hasWideSizes: max(entry.size, entry.compressedSize) >= Int64(UInt32.max)
        )
        // Some methods use flag bits of their own.
        let options = UInt8(truncatingIfNeeded: entry.record.flags & 0b110)
        var local = record.local()
        local[6] |= options
        var central = record.central()
        central[8] |= options
        head = local
        let end = EndRecord(
            entries: 1,
            directoryOffset: UInt64(head.count) + UInt64(data.count),
            directorySize: UInt64(central.count)
        )
        tail = central + end.encoded()
        zip_error_init(&error)
    }

    deinit {
        zip_error_fini(&error)
    }

    /// Opens the zip, which libzip keeps until the archive is discarded.
    func open(_ path: FilePath) throws -> OpaquePointer {
        let callback: zip_source_callback = { context, data, length, command in
            guard let context else { return -1 }
            let object = Unmanaged<SingleEntrySource>.fromOpaque(context)
            guard command != ZIP_SOURCE_FREE else {
                object.release()
                return 0
            }
            return object.takeUnretainedValue().answer(command, data, length)
        }
        var reason = zip_error_t()
        zip_error_init(&reason)
        defer { zip_error_fini(&reason) }
        let object = Unmanaged.passRetained(self)
        guard let source = zip_source_function_create(callback, object.toOpaque(), &reason) else {
            object.release()
            throw ArchiveError.damaged(path, reason: libzipReason(reason.zip_err))
        }
        guard let archive = zip_open_from_source(source, ZIP_RDONLY, &reason) else {
            zip_source_free(source)
            throw ArchiveError.damaged(path, reason: libzipReason(reason.zip_err))
        }
        return archive
    }

    private func answer(
        _ command: zip_source_cmd_t,
        _ data: UnsafeMutableRawPointer?,
        _ length: UInt64
    ) -> Int64 {
        switch command {
        case ZIP_SOURCE_OPEN:
            position = 0
            return 0
        case ZIP_SOURCE_READ:
            let space = UnsafeMutableRawBufferPointer(start: data, count: Int(length))
            guard let count = try? read(into: space) else {
                zip_error_set(&error, ZIP_ER_READ, Errno.ioError.rawValue)
                return -1
            }
            position += Int64(count)
            return Int64(count)
        case ZIP_SOURCE_CLOSE: return 0
        case ZIP_SOURCE_STAT:
            guard let status = data?.assumingMemoryBound(to: zip_stat_t.self) else { return -1 }
            zip_stat_init(status)
            status.pointee.size = UInt64(size)
            status.pointee.valid = UInt64(ZIP_STAT_SIZE)
            return Int64(MemoryLayout<zip_stat_t>.size)
        case ZIP_SOURCE_ERROR: return zip_error_to_data(&error, data, length)
        case ZIP_SOURCE_SEEK:
            let (start, end) = (UInt64(position), UInt64(size))
            let place = zip_source_seek_compute_offset(start, end, data, length, &error)
            guard place >= 0 else { return -1 }
            position = place
            return 0
        case ZIP_SOURCE_TELL: return position
        case ZIP_SOURCE_SUPPORTS: return Self.supported
        default:
            zip_error_set(&error, ZIP_ER_OPNOTSUPP, 0)
            return -1
        }
    }

    private static let supported = [
        ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
        ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS,
    ].reduce(Int64(0)) { $0 | 1 << Int64($1.rawValue) }

    /// Reads from the part of the zip at the current position, as libzip asks for more.
    private func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let dataStart = Int64(head.count)
        let tailStart = dataStart + Int64(data.count)
        if (dataStart..<tailStart).contains(position) {
            let count = Int(min(Int64(buffer.count), tailStart - position))
            try source.readExactly(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]),
                at: data.lowerBound + position - dataStart
            )
            return count
        }
        let part =
            position < dataStart ? head[Int(position)...] : tail[Int(position - tailStart)...]
        let count = min(buffer.count, part.count)
        buffer.copyBytes(from: part.prefix(count))
        return count
    }
}

/// Returns the message for a libzip error code (libzip(3), zip_error_strerror(3)).
func libzipReason(_ code: CInt) -> String {
    switch code {
    case ZIP_ER_CRC: return "its CRC-32 is wrong"
    case ZIP_ER_COMPNOTSUPP: return "its compression method is not supported here"
    case ZIP_ER_ENCRNOTSUPP: return "its encryption is not supported here"
    default: break
    }
    var error = zip_error_t()
    zip_error_init_with_code(&error, code)
    defer { zip_error_fini(&error) }
    return String(cString: zip_error_strerror(&error)).lowercased()
}
