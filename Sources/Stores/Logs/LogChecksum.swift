/// The running checksum of a log (https://www.sqlite.org/fileformat2.html, 4.2).
struct LogChecksum {
    private let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    /// Continues from a checksum, given as in the file.
    init(isBigEndian: Bool, after first: UInt32, _ second: UInt32) {
        self.isBigEndian = isBigEndian
        (self.first, self.second) = (UInt32(bigEndian: first), UInt32(bigEndian: second))
    }

    /// Adds an even count of words, given as in the file.
    mutating func append(_ words: ArraySlice<UInt32>) {
        words.withUnsafeBufferPointer { words in
            for index in stride(from: 0, to: words.count - 1, by: 2) {
                first &+= value(words[index]) &+ second
                second &+= value(words[index + 1]) &+ first
            }
        }
    }

    /// Returns whether the checksum equals the one in the file, which is always big-endian.
    func matches(_ first: UInt32, _ second: UInt32) -> Bool {
        self.first == UInt32(bigEndian: first) && self.second == UInt32(bigEndian: second)
    }

    private func value(_ word: UInt32) -> UInt32 {
        isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}
