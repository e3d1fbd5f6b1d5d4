public import Files

/// A log in which committed transactions follow a damaged frame; SQLite ignores them.
public struct DamagedLog {
    /// The damage, in words.
    public let reason: String
    /// A copy of the log.
    public let file: File
}

/// A write-ahead log, read through SQLite's file handle (https://www.sqlite.org/fileformat2.html, 4).
struct WriteAheadLog {
    private static let headerLength = 32
    private static let frameHeaderLength = 24

    let file: VFSFile
    let pageSize: Int

    private var frameLength: Int { Self.frameHeaderLength + pageSize }

    private func offset(ofFrame frame: UInt32) -> Int64 {
        Int64(Self.headerLength) + Int64(frame - 1) * Int64(frameLength)
    }

    /// Reads a frame's page, or a part of it, from an offset on.
    func readPage(
        inFrame frame: UInt32,
        into buffer: UnsafeMutableRawBufferPointer,
        from start: Int
    ) throws {
        try file.read(
            into: buffer,
            at: offset(ofFrame: frame) + Int64(Self.frameHeaderLength + start)
        )
    }

    /// Returns the newest frame of each page in the log, up to the last frame of a snapshot.
    ///
    /// - Returns: `nil` if a frame has another generation than the state.
    /// - Throws: `StoreError`.
    func frames(upTo state: WALState) throws -> [UInt32: UInt32]? {
        var frames: [UInt32: UInt32] = [:]
        var header = [UInt32](repeating: 0, count: 6)
        for frame in 1...max(1, state.lastFrame) where state.lastFrame > 0 {
            try read(&header, at: offset(ofFrame: frame))
            guard salt(header, at: 2) == state.salt else { return nil }
            frames[UInt32(bigEndian: header[0])] = frame
        }
        return frames
    }

    /// The result of reading a whole log.
    struct Scan {
        var state: WALState
        /// The first damage before further committed frames; `nil` if the log just ends.
        ///
        /// Frames of an older generation, or of a rolled-back transaction, may follow the end of a sound log. An
        /// interrupted write leaves one bad frame, and none after it.
        var damage: String?
    }

    /// Finds the last committed frame of a log without an index, by checking every checksum, as recovery does.
    func scan() throws -> Scan {
        var state = WALState(change: 0, lastFrame: 0, salt: 0, isInDatabase: true)
        var header = [UInt32](repeating: 0, count: Self.headerLength / 4)
        try read(&header, at: 0)
        let magic = UInt32(bigEndian: header[0])
        guard magic & ~1 == 0x377F_0682, UInt32(bigEndian: header[1]) == 3_007_000,
            Int(UInt32(bigEndian: header[2])) == pageSize
        else { return Scan(state: state, damage: try damageOfHeader(header)) }
        var checksum = LogChecksum(isBigEndian: magic & 1 == 1)
        checksum.append(header[..<6])
        guard checksum.matches(header[6], header[7]) else {
            return Scan(state: state, damage: try damageOfHeader(header))
        }
        state.salt = salt(header, at: 4)

        var words = [UInt32](repeating: 0, count: frameLength / 4)
        var frame: UInt32 = 1
        let size = file.size ?? 0
        while offset(ofFrame: frame) + Int64(frameLength) <= size {
            try read(&words, at: offset(ofFrame: frame))
            checksum.append(words[..<2])
            checksum.append(words[6...])
            guard salt(words, at: 2) == state.salt, words[0] != 0,
                checksum.matches(words[4], words[5])
            else { break }
            if words[1] != 0 { state.lastFrame = frame }
            frame += 1
        }
        state.isInDatabase = state.lastFrame == 0
        let isLost = try frames(from: frame + 1, size) { words in
            words[0] != 0 && words[1] != 0 && salt(words, at: 2) == state.salt
        }
        return Scan(state: state, damage: isLost ? "frame \(frame) of its log is damaged" : nil)
    }

    /// Returns whether a frame from an index on has a wanted header.
    private func frames(
        from first: UInt32,
        _ size: Int64,
        contain isWanted: ([UInt32]) throws -> Bool
    ) throws -> Bool {
        var header = [UInt32](repeating: 0, count: Self.frameHeaderLength / 4)
        var frame = first
        while offset(ofFrame: frame) + Int64(frameLength) <= size {
            try read(&header, at: offset(ofFrame: frame))
            if try isWanted(header) { return true }
            frame += 1
        }
        return false
    }

    /// Returns a message about a header that SQLite refuses, or `nil` if the file is no log.
    ///
    /// The file is a log if a committed frame's checksum continues that of another frame or of the header.
    private func damageOfHeader(_ header: [UInt32]) throws -> String? {
        let size = file.size ?? 0
        var before = [header[6], header[7]]
        var words = [UInt32](repeating: 0, count: frameLength / 4)
        var frame: UInt32 = 1
        while offset(ofFrame: frame) + Int64(frameLength) <= size {
            try read(&words, at: offset(ofFrame: frame))
            let follows = [true, false].contains { isBigEndian in
                var checksum = LogChecksum(isBigEndian: isBigEndian, after: before[0], before[1])
                checksum.append(words[..<2])
                checksum.append(words[6...])
                return checksum.matches(words[4], words[5])
            }
            if follows, words[0] != 0, words[1] != 0 { return "the header of its log is damaged" }
            before = [words[4], words[5]]
            frame += 1
        }
        return nil
    }

    private func read(_ words: inout [UInt32], at offset: Int64) throws {
        try words.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
    }

    private func salt(_ words: [UInt32], at index: Int) -> UInt64 {
        words.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4 * index, as: UInt64.self) }
    }
}
