internal import Files

extension SegmentBuffers {
    /// Returns a segment of a file as it is in the end, until the next call.
    ///
    /// - Throws: `ArchiveError` if it is not what the manifest says; `FileError`.
    func verifiedContent(of part: ExtractJob.Part) throws -> UnsafeRawBufferPointer {
        let bytes = UnsafeRawBufferPointer(try content(of: part))
        guard Digest(of: bytes) == part.digest else {
            throw part.item.entry.archive.damage(part.item.entry, "its SHA-256 is wrong")
        }
        return bytes
    }

    /// Inflates the segment of the entry, and lays the runs of the patches over it.
    private func content(of part: ExtractJob.Part) throws -> UnsafeMutableRawBufferPointer {
        var space = blank
        var known = 0
        if let base = part.base {
            let bytes = try read(
                at: base.source,
                length: base.compressedLength,
                inflatingTo: base.length,
                isLast: base.isLast,
                of: part.item.entry
            )
            (space, known) = (bytes, base.length)
        }
        let content = UnsafeMutableRawBufferPointer(start: space.baseAddress, count: part.length)
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
