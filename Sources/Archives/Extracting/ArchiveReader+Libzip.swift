internal import CLibzip
internal import Files
internal import SystemPackage

extension ArchiveReader {
    /// Reads an entry that is compressed in another way than ours, through libzip.
    ///
    /// libzip is given an archive of this entry alone, made of two records of ours and the data where
    /// it is in the file that is open: it neither opens the path again, behind which there may be
    /// another file by now, nor reads all of a large directory for every entry. It checks the CRC at
    /// the end (zip_fread(3)).
    func readWithLibzip(_ entry: Entry, body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        let label = entry.attributes.path.description
        guard entry.record.flags & ZipRecords.encryptedFlag == 0 else {
            throw ArchiveError.encrypted(path, entry: label)
        }
        // libzip would call the archive inconsistent, since it looks for what only an encrypted entry has.
        guard entry.record.method != ZipRecords.aes else {
            throw ArchiveError.unsupported(
                path,
                entry: label,
                reason: libzipReason(ZIP_ER_COMPNOTSUPP)
            )
        }
        let single = SingleEntrySource(entry, at: try dataOffset(entry), in: file)
        try withExtendedLifetime(single) {
            let archive = try single.open(path)
            defer { zip_discard(archive) }
            guard let stream = zip_fopen_index(archive, 0, 0) else {
                throw ArchiveError.unsupported(
                    path,
                    entry: label,
                    reason: libzipReason(zip_get_error(archive).pointee.zip_err)
                )
            }
            defer { zip_fclose(stream) }
            try read(stream, of: entry, body: body)
        }
    }

    private func read(
        _ stream: OpaquePointer,
        of entry: Entry,
        body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
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
