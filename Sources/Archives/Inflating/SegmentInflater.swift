internal import CIsal

/// A decompressor for deflate data (RFC 1951), for one segment or stream at a time.
///
/// It holds working memory, so each thread creates one and keeps it.
final class SegmentInflater {
    private let state: UnsafeMutableRawPointer

    init() {
        guard let state = cisal_inflater_create() else { fatalError("out of memory") }
        self.state = state
    }

    deinit {
        cisal_inflater_destroy(state)
    }

    /// Inflates a whole segment into a buffer of exactly its size.
    ///
    /// - Returns: whether the segment was valid: all input was used, the buffer is full, and the stream ended if the
    ///   segment is the last one.
    func inflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        isLast: Bool
    ) -> Bool {
        startStream()
        guard let step = inflatePart(input, into: output), step.given == output.count else {
            return false
        }
        if step.finished { return step.taken == input.count && isLast }
        // All output was written, but not the end of the last block, or the flush's empty block. Or there is more
        // output that ISA-L holds back because the buffer is full.
        let rest = UnsafeRawBufferPointer(rebasing: input[step.taken...])
        var extra: UInt8 = 0
        let end = withUnsafeMutableBytes(of: &extra) { inflatePart(rest, into: $0) }
        guard let end, end.given == 0 else { return false }
        return end.taken == rest.count && end.finished == isLast
    }

    /// Starts a stream whose parts are passed to `inflatePart`.
    func startStream() {
        cisal_inflater_reset(state)
    }

    /// Inflates as much of a stream's next input as fits into the output.
    ///
    /// - Returns: the numbers of bytes consumed and written, and whether the stream ended; `nil` if the data is no
    ///   deflate data.
    func inflatePart(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, given: Int, finished: Bool)? {
        var next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var left = UInt32(input.count)
        var place = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var room = UInt32(output.count)
        var finished: CInt = 0
        guard cisal_inflate(state, &next, &left, &place, &room, &finished) == 0 else { return nil }
        return (input.count - Int(left), output.count - Int(room), finished == 1)
    }
}
