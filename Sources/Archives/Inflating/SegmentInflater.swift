internal import CIsal

/// Inflates deflate data (RFC 1951), a segment or a stream at a time.
///
/// It holds the decompressor's working memory, so each thread makes one and keeps it.
final class SegmentInflater {
    private let state: UnsafeMutableRawPointer

    init() {
        guard let state = cisal_inflater_create() else { fatalError("out of memory") }
        self.state = state
    }

    deinit {
        cisal_inflater_destroy(state)
    }

    /// Inflates a whole segment into a buffer of just its length.
    ///
    /// - Returns: whether the segment was good: all input used, the buffer filled, and the stream
    ///   ended if it is the last one.
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
        // All output came, but not the end of the last block, or the empty block of the flush; or
        // there is more output, which ISA-L holds back if it has no room for it.
        let rest = UnsafeRawBufferPointer(rebasing: input[step.taken...])
        var extra: UInt8 = 0
        let end = withUnsafeMutableBytes(of: &extra) { inflatePart(rest, into: $0) }
        guard let end, end.given == 0 else { return false }
        return end.taken == rest.count && end.finished == isLast
    }

    /// Starts a stream that is given in parts to `inflatePart`.
    func startStream() {
        cisal_inflater_reset(state)
    }

    /// Inflates as much of a stream's next input as the output has room for.
    ///
    /// - Returns: how much was taken and given, and whether the stream ended; `nil` if the data is not
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
