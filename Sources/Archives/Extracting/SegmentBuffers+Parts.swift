internal import Files

extension SegmentBuffers {
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
            throw part.item.entry.archive.damage(part.item.entry, "its SHA-256 is wrong")
        }
        return bytes
    }

    /// Inflates the segment of the entry, and lays the runs of the patches over it.
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
        for runs in part.overlays {
            runs.bytes.withUnsafeBytes { bytes in
                var next = 0
                for place in runs.places {
                    // What lies behind the end of the file was cut off later.
                    let length = min(place.upperBound, part.length) - place.lowerBound
                    if length > 0 {
                        let space = UnsafeMutableRawBufferPointer(
                            rebasing: content[place.lowerBound...]
                        )
                        space.copyMemory(from: .init(rebasing: bytes[next..<(next + length)]))
                    }
                    next += place.count
                }
            }
        }
        return content
    }
}
