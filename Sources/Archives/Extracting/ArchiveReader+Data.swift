internal import Files

extension ArchiveReader {
    /// Where an entry's data begins in the file: after its local record, which is checked against
    /// the central one.
    func dataOffset(_ entry: Entry) throws -> Int64 {
        // Nothing was checked of an archive that is only looked into.
        guard entry.record.offset <= directory.offset else {
            throw damage(entry, "its data lies outside the file")
        }
        let header = try file.readExactly(
            count: ZipRecords.localLength,
            at: Int64(entry.record.offset)
        )
        let name = directory.bytes[entry.record.name]
        let isOurs = origin == .ours
        guard header.uint32(at: 0) == ZipRecords.localSignature,
            header.uint16(at: 8) == entry.record.method,
            Int(header.uint16(at: 26)) == name.count,
            isOurs ? hasSameForm(header, entry) : hasSameSizes(header, entry)
        else { throw damage(entry, "its local record contradicts the directory") }
        let nameOffset = Int64(entry.record.offset) + Int64(ZipRecords.localLength)
        guard try file.readExactly(count: name.count, at: nameOffset).elementsEqual(name) else {
            throw damage(entry, "its local record has another name")
        }
        let offset = nameOffset + Int64(name.count) + Int64(header.uint16(at: 28))
        guard entry.compressedSize <= Int64(directory.offset) - offset else {
            throw damage(entry, "its data lies outside the file")
        }
        if isOurs, entry.record.hasDescriptor { try checkDescriptor(entry, dataOffset: offset) }
        return offset
    }

    /// Checks what stands behind the data of an entry of ours that was written before its sizes were
    /// known; whoever reads a stream knows nothing else.
    private func checkDescriptor(_ entry: Entry, dataOffset: Int64) throws {
        let expected = entry.record.descriptor.encoded()
        let offset = dataOffset + entry.compressedSize
        guard Int64(expected.count) <= Int64(directory.offset) - offset,
            try file.readExactly(count: expected.count, at: offset) == expected
        else { throw damage(entry, "its data descriptor contradicts the directory") }
    }

    /// Whether a local record of ours says as the central one does if the sizes are behind the data.
    private func hasSameForm(_ local: [UInt8], _ entry: Entry) -> Bool {
        (local.uint16(at: 6) ^ entry.record.flags) & ZipRecords.descriptorFlag == 0
    }

    /// Whether a local record has the checksum and sizes of the central one, as far as it has any.
    ///
    /// Without a manifest nothing else tells of a directory that says that a file is empty. A writer
    /// that could not seek has them behind the data (4.4.4, bit 3); large ones are in an extra field.
    private func hasSameSizes(_ local: [UInt8], _ entry: Entry) -> Bool {
        guard local.uint16(at: 6) & ZipRecords.descriptorFlag == 0 else { return true }
        let sizes = [(18, entry.compressedSize), (22, entry.size)]
        return local.uint32(at: 14) == entry.record.checksum
            && sizes.allSatisfy { position, size in
                let value = local.uint32(at: position)
                return value == UInt32.max || Int64(value) == size
            }
    }

    /// Reads an entry's data from its beginning, in parts, checking its size and CRC at the end.
    ///
    /// - Parameters:
    ///   - entry: which one.
    ///   - body: gets each part; returns `false` to read no further, and then nothing is checked.
    /// - Throws: `ArchiveError`; what `body` throws.
    public func read(_ entry: Entry, body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard entry.isPlain else { return try readWithLibzip(entry, body: body) }
        let input = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(256 << 10, max(1, entry.compressedSize))),
            alignment: 64
        )
        let output = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(256 << 10, max(1, entry.size))),
            alignment: 64
        )
        defer {
            input.deallocate()
            output.deallocate()
        }
        var source = RawStream(
            file: file,
            offset: try dataOffset(entry),
            left: entry.compressedSize,
            buffer: input
        )
        var checksum = Checksum()
        var given: Int64 = 0
        func give(_ part: UnsafeRawBufferPointer) throws -> Bool {
            given += Int64(part.count)
            guard given <= entry.size else { throw damage(entry, "it holds more than it declares") }
            checksum.append(part)
            return try body(part)
        }
        if entry.record.method == ZipRecords.stored {
            while let part = try source.next() {
                guard try give(part) else { return }
            }
        } else {
            guard try inflate(entry, from: &source, through: output, to: give) else { return }
        }
        guard given == entry.size else { throw damage(entry, "it holds less than it declares") }
        guard checksum.value == entry.record.checksum else {
            throw damage(entry, "its CRC-32 is wrong")
        }
    }

    private func inflate(
        _ entry: Entry,
        from source: inout RawStream,
        through output: UnsafeMutableRawBufferPointer,
        to give: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let inflater = SegmentInflater()
        inflater.startStream()
        var part = UnsafeRawBufferPointer(start: nil, count: 0)
        var finished = false
        while !finished {
            if part.isEmpty { part = try source.next() ?? part }
            guard let step = inflater.inflatePart(part, into: output) else {
                throw damage(entry, "its data is not deflate data")
            }
            if step.given > 0, try !give(UnsafeRawBufferPointer(rebasing: output[..<step.given])) {
                return false
            }
            guard step.taken > 0 || step.given > 0 || step.finished else {
                throw damage(entry, "its data ends early")
            }
            part = UnsafeRawBufferPointer(rebasing: part[step.taken...])
            finished = step.finished
        }
        guard part.isEmpty, source.left == 0 else {
            throw damage(entry, "there is something behind the end of its data")
        }
        return true
    }

    func contradiction(_ entry: Entry) -> ArchiveError {
        .contradictedManifest(path, entry: label(entry.record))
    }

    func damage(_ entry: Entry, _ reason: String) -> ArchiveError {
        .damagedEntry(path, entry: label(entry.record), reason: reason)
    }
}

/// Reads a range of a file a buffer at a time.
private struct RawStream {
    let file: File
    var offset: Int64
    var left: Int64
    let buffer: UnsafeMutableRawBufferPointer

    mutating func next() throws -> UnsafeRawBufferPointer? {
        guard left > 0 else { return nil }
        let length = Int(min(left, Int64(buffer.count)))
        try file.readExactly(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]),
            at: offset
        )
        offset += Int64(length)
        left -= Int64(length)
        return UnsafeRawBufferPointer(rebasing: buffer[..<length])
    }
}
