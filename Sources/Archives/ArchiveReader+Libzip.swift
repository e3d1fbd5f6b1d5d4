internal import CLibzip
internal import Files
internal import SystemPackage

extension ArchiveReader {
    /// Reads an entry that is compressed in another way than ours, through libzip.
    ///
    /// libzip checks the CRC at the end (zip_fread(3)).
    func readWithLibzip(_ entry: Entry, body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        let label = entry.attributes.path.description
        guard entry.record.flags & ZipRecords.encryptedFlag == 0 else {
            throw ArchiveError.encrypted(path, entry: label)
        }
        // libzip believes the directory, and does not look at the method of an empty entry.
        _ = try dataOffset(entry)
        var code: CInt = 0
        guard let archive = path.withPlatformString({ zip_open($0, ZIP_RDONLY, &code) }) else {
            throw ArchiveError.damaged(path, reason: libzipReason(code))
        }
        defer { zip_discard(archive) }
        guard let stream = zip_fopen_index(archive, UInt64(directory.place(of: entry.index)), 0)
        else {
            throw ArchiveError.unsupported(
                path,
                entry: label,
                reason: libzipReason(zip_get_error(archive).pointee.zip_err)
            )
        }
        defer { zip_fclose(stream) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
        defer { buffer.deallocate() }
        var given: Int64 = 0
        while true {
            let count = zip_fread(stream, buffer.baseAddress, UInt64(buffer.count))
            guard count >= 0 else {
                throw damage(entry, libzipReason(zip_file_get_error(stream).pointee.zip_err))
            }
            if count == 0 { break }
            given += count
            guard given <= entry.size else { throw damage(entry, "it holds more than it declares") }
            guard try body(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)])) else { return }
        }
        guard given == entry.size else { throw damage(entry, "it holds less than it declares") }
    }
}

/// What a libzip error code means (libzip(3), zip_error_strerror(3)).
private func libzipReason(_ code: CInt) -> String {
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
