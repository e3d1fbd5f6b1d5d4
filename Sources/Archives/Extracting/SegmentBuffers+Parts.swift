internal import Files

extension SegmentBuffers {
    private static let wrongDigest = "its SHA-256 is wrong"

    /// Returns a segment of a file as it is in the end.
    ///
    /// - Throws: `ArchiveError` if it is not what the manifest says; `FileError`.
    func verifiedBytes(of part: ExtractJob.Part) throws -> [UInt8] {
        let capacity = max(part.length, part.base?.length ?? 0)
        return try Array(unsafeUninitializedCapacity: capacity) { array, count in
            let space = UnsafeMutableRawBufferPointer(array)
            let bytes = try verifiedContent(of: part, in: space)
            // Of an entry that is not compressed they stand in the buffer that they were read into.
            if bytes.baseAddress != UnsafeRawPointer(space.baseAddress) {
                space.copyMemory(from: bytes)
            }
            count = part.length
        }
    }

    /// Returns a segment of a file as it is in the end, until the next call.
    ///
    /// - Parameters:
    ///   - part: the segment.
    ///   - space: where to put it together, with room for it as it is and as it was; `nil` for a buffer of this
    ///     object.
    /// - Returns: its bytes, in `space` unless nothing had to be inflated.
    /// - Throws: `ArchiveError` if it is not what the manifest says; `FileError`.
    func verifiedContent(
        of part: ExtractJob.Part,
        in space: UnsafeMutableRawBufferPointer? = nil
    ) throws -> UnsafeRawBufferPointer {
        let bytes = UnsafeRawBufferPointer(try content(of: part, in: space ?? self.space))
        guard Digest(of: bytes) == part.digest else {
            throw try damage(of: part)
        }
        return bytes
    }

    /// Returns the fault of a segment whose SHA-256 is wrong: that of a patch over it, or its own.
    private func damage(of part: ExtractJob.Part) throws -> ArchiveError {
        for patch in part.unverified where try patch.verifiedSize(self) < patch.entry.size {
            return patch.damage(Self.wrongDigest)
        }
        return part.item.entry.archive.damage(part.item.entry, Self.wrongDigest)
    }

    /// Inflates the segment of the entry, and lays the bytes of patches over it.
    private func content(
        of part: ExtractJob.Part,
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
}
