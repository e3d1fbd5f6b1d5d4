internal import Files

extension SegmentBuffers {
    private static let wrongDigest = "its SHA-256 is wrong"

    /// Returns a segment of the final file.
    ///
    /// - Throws: `ArchiveError` if it does not match the manifest; `FileError`.
    func verifiedBytes(of part: FileSegment) throws -> [UInt8] {
        let capacity = max(part.length, part.base?.length ?? 0)
        return try Array(unsafeUninitializedCapacity: capacity) { array, count in
            let space = UnsafeMutableRawBufferPointer(array)
            let bytes = try verifiedContent(of: part, in: space)
            // The bytes of an uncompressed entry are still in the input buffer.
            if bytes.baseAddress != UnsafeRawPointer(space.baseAddress) {
                space.copyMemory(from: bytes)
            }
            count = part.length
        }
    }

    /// Returns a segment of the final file, valid until the next call.
    ///
    /// - Parameters:
    ///   - part: the segment.
    ///   - space: the buffer for the segment, with room for its old and its new length; `nil` for a buffer of this
    ///     object.
    /// - Returns: the bytes, in `space` unless nothing had to be inflated.
    /// - Throws: `ArchiveError` if it does not match the manifest; `FileError`.
    func verifiedContent(
        of part: FileSegment,
        in space: UnsafeMutableRawBufferPointer? = nil
    ) throws -> UnsafeRawBufferPointer {
        if try isOfZeros(part) { return ZeroSegment.bytes }
        let bytes = UnsafeRawBufferPointer(try content(of: part, in: space ?? self.space))
        guard Digest(of: bytes) == part.digest else {
            throw try damage(of: part)
        }
        return bytes
    }

    /// Returns whether a segment is zeros, and has exactly the compressed bytes that this program writes for zeros.
    private func isOfZeros(_ part: FileSegment) throws -> Bool {
        guard part.digest == ZeroSegment.digest, part.overlay == nil, let base = part.base,
            base.length == part.length, !base.isLast,
            base.compressedLength == ZeroSegment.deflated.count,
            part.item.entry.record.method == ZipRecords.deflated
        else { return false }
        let bytes = try compressed(base.compressedLength, at: base.source, of: part.item.entry)
        return bytes.elementsEqual(ZeroSegment.deflated)
    }

    /// Returns the error for a segment with a wrong SHA-256: that of a damaged patch over it, or the segment's own.
    private func damage(of part: FileSegment) throws -> ArchiveError {
        for patch in part.unverified where try verifiedSize(of: patch) < patch.entry.size {
            return patch.damage(Self.wrongDigest)
        }
        return part.item.entry.archive.damage(part.item.entry, Self.wrongDigest)
    }

    /// Inflates the segment of the entry, and copies the bytes of patches over it.
    private func content(
        of part: FileSegment,
        in space: UnsafeMutableRawBufferPointer
    ) throws -> UnsafeMutableRawBufferPointer {
        var (start, known) = (space.baseAddress, 0)
        if let base = part.base {
            let bytes = try read(
                at: base.source,
                length: base.compressedLength,
                inflatingTo: base.length,
                isLast: base.isLast,
                of: part.item.entry,
                in: space
            )
            (start, known) = (bytes.baseAddress, base.length)
        }
        let content = UnsafeMutableRawBufferPointer(start: start, count: part.length)
        if known < part.length {
            let rest = UnsafeMutableRawBufferPointer(rebasing: content[known...])
            rest.initializeMemory(as: UInt8.self, repeating: 0)
        }
        part.overlay?.lay(over: content)
        return content
    }

    /// Reads a patch as far as its bytes match the manifest.
    ///
    /// - Returns: the number of matching bytes: all, or the whole segments before the first wrong one.
    /// - Throws: `ArchiveError` if its table contradicts the archive; `FileError`.
    func verifiedSize(of patch: Patch) throws -> Int64 {
        try patch.entry.check(patch.segments)
        var size: Int64 = 0
        do {
            try ArchiveItem(patch).forEachSegment(to: nil) { part in
                _ = try verifiedContent(of: part)
                size += Int64(part.length)
            }
        } catch is ArchiveError {
            return size
        }
        return size
    }
}
