internal import CLibzip
internal import Files
internal import SystemPackage

extension ArchiveReader {
    /// Reads an entry that is not plain through libzip, which checks its CRC (zip_fread(3)).
    ///
    /// libzip receives an archive of this entry alone: two new records, and the data from the open source. So it does
    /// not open the path again, where another file may be now. It also does not read a large directory for every entry.
    ///
    /// - Returns: `false` if `body` stopped before the end.
    func readWithLibzip(
        _ entry: Entry,
        to body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let label = entry.attributes.path.description
        guard entry.record.flags & ZipRecords.encryptedFlag == 0 else {
            throw ArchiveError.encrypted(path, entry: label)
        }
        func unsupported(_ code: CInt) -> ArchiveError {
            .unsupported(path, entry: label, reason: libzipReason(code))
        }
        // libzip would search for a field that only encrypted entries have, and call the archive inconsistent.
        guard entry.record.method != ZipRecords.aes else {
            throw unsupported(ZIP_ER_COMPNOTSUPP)
        }
        let archive = try SingleEntrySource(entry, at: dataOffset(entry), in: source).open(path)
        defer { zip_discard(archive) }
        guard let stream = zip_fopen_index(archive, 0, 0) else {
            throw unsupported(zip_get_error(archive).pointee.zip_err)
        }
        defer { zip_fclose(stream) }
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: 256 << 10)
        defer { buffer.deallocate() }
        while true {
            let count = zip_fread(stream, buffer.baseAddress, UInt64(buffer.count))
            guard count >= 0 else {
                throw damage(entry, libzipReason(zip_file_get_error(stream).pointee.zip_err))
            }
            if count == 0 { return true }
            guard try body(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)])) else {
                return false
            }
        }
    }
}
