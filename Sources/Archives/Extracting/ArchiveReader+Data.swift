internal import Files

extension ArchiveReader {
    /// Returns the offset of an entry's data in the file, behind the local record.
    ///
    /// Checks the local record against the central one.
    ///
    /// - Parameters:
    ///   - entry: the entry.
    ///   - withDescriptor: whether to check the data descriptor behind the data too.
    /// - Returns: the offset.
    /// - Throws: `ArchiveError`, `FileError`.
    func dataOffset(_ entry: Entry, withDescriptor: Bool = true) throws -> Int64 {
        let offset = try localRecord(of: entry).dataOffset
        if origin == .ours, withDescriptor, entry.record.hasDescriptor {
            try checkDescriptor(entry, dataOffset: offset)
        }
        return offset
    }

    /// Returns the fixed part of an entry's local record, and the offset of the data behind the record.
    ///
    /// Checks the local record against the central one.
    ///
    /// - Throws: `ArchiveError`, `FileError`.
    private func localRecord(of entry: Entry) throws -> (header: [UInt8], dataOffset: Int64) {
        // An archive opened without checks may have any offset here.
        guard entry.record.offset <= directory.offset else {
            throw damage(entry, "its data lies outside the file")
        }
        let start = Int64(entry.record.offset)
        let header = try source.readExactly(count: ZipRecords.localLength, at: start)
        let name = directory.bytes[entry.record.name]
        guard header.uint32(at: 0) == ZipRecords.localSignature,
            header.uint16(at: 8) == entry.record.method,
            Int(header.uint16(at: 26)) == name.count,
            origin == .ours ? hasSameForm(header, entry) : hasSameSizes(header, entry)
        else { throw damage(entry, "its local record contradicts the directory") }
        let nameOffset = start + Int64(ZipRecords.localLength)
        guard try source.readExactly(count: name.count, at: nameOffset).elementsEqual(name) else {
            throw damage(entry, "its local record has another name")
        }
        let offset = nameOffset + Int64(name.count) + Int64(header.uint16(at: 28))
        guard entry.compressedSize <= Int64(directory.offset) - offset else {
            throw damage(entry, "its data lies outside the file")
        }
        return (header, offset)
    }

    /// Checks the data descriptor of an entry of this program's archive, since a stream reader depends on it.
    private func checkDescriptor(_ entry: Entry, dataOffset: Int64) throws {
        let expected = entry.record.descriptor.encoded()
        let offset = dataOffset + entry.compressedSize
        guard Int64(expected.count) <= Int64(directory.offset) - offset,
            try source.readExactly(count: expected.count, at: offset) == expected
        else { throw damage(entry, "its data descriptor contradicts the directory") }
    }

    /// Returns whether a local record and the central one agree on a data descriptor.
    private func hasSameForm(_ local: [UInt8], _ entry: Entry) -> Bool {
        (local.uint16(at: 6) ^ entry.record.flags) & ZipRecords.descriptorFlag == 0
    }

    /// Checks that the local records of this program's archive are those that it wrote, since other programs read them.
    ///
    /// A restore does without, and reads whatever the directory describes.
    ///
    /// - Throws: `ArchiveError`, `FileError`.
    package func checkLocalRecords() throws {
        guard origin == .ours else { return }
        for index in 0..<count {
            let entry = try entry(at: index)
            let local = try localRecord(of: entry).header
            let record = entry.record
            let central = directory.bytes[..<record.name.lowerBound]
                .suffix(ZipRecords.centralLength)
            let common = central.dropFirst(6).prefix(10)
            let sums = Array(central.dropFirst(16).prefix(12))
            let given = record.hasDescriptor ? [0, 0, 0, 0] + sums.wideOrNone : sums
            guard local[4..<14].elementsEqual(common), local[14..<26].elementsEqual(given) else {
                throw damage(entry, "its local record contradicts the directory")
            }
        }
    }

    /// Returns whether the checksum and sizes in a local record match the central one.
    ///
    /// A writer that could not seek has them behind the data (4.4.4, bit 3), and large ones are in an extra field.
    /// Without a manifest, only these numbers reveal a file that the directory declares empty.
    private func hasSameSizes(_ local: [UInt8], _ entry: Entry) -> Bool {
        guard local.uint16(at: 6) & ZipRecords.descriptorFlag == 0 else { return true }
        func isSame(_ size: UInt32, _ other: Int64) -> Bool {
            size == UInt32.max || Int64(size) == other
        }
        return local.uint32(at: 14) == entry.record.checksum
            && isSame(local.uint32(at: 18), entry.compressedSize)
            && isSame(local.uint32(at: 22), entry.size)
    }

    /// Reads an entry's data from the beginning, in parts.
    ///
    /// Checks the size and the CRC at the end.
    ///
    /// - Parameters:
    ///   - entry: the entry.
    ///   - body: receives each part; returns `false` to stop, so that nothing is checked.
    /// - Throws: `ArchiveError`; any error of `body`.
    public func read(_ entry: Entry, body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        var checksum = Checksum()
        var given: Int64 = 0
        func give(_ part: UnsafeRawBufferPointer) throws -> Bool {
            given += Int64(part.count)
            guard given <= entry.size else { throw damage(entry, "it holds more than it declares") }
            checksum.append(part)
            return try body(part)
        }
        let isWhole =
            try entry.isPlain ? readPlain(entry, to: give) : readWithLibzip(entry, to: give)
        guard isWhole else { return }
        guard given == entry.size else { throw damage(entry, "it holds less than it declares") }
        guard checksum.value == entry.record.checksum else {
            throw damage(entry, "its CRC-32 is wrong")
        }
    }

    private func readPlain(
        _ entry: Entry,
        to give: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let stream = try EntryStream(entry)
        while let part = try stream.next() {
            guard try give(part) else { return false }
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

extension [UInt8] {
    /// The sizes of a local record that was written before they were known, after a checksum: as in the central record if
    /// they are elsewhere, else zero.
    fileprivate var wideOrNone: [UInt8] {
        let sizes = Array(dropFirst(4))
        return sizes.allSatisfy { $0 == 0xFF } ? sizes : [UInt8](repeating: 0, count: 8)
    }
}
