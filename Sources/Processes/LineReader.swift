/// Cuts the output of a program into lines, in whatever parts it comes.
public struct LineReader: Sendable {
    private var rest: [UInt8] = []
    /// A line that is longer is cut, in bytes.
    private let limit: Int

    public init(limit: Int = 4096) {
        self.limit = limit
    }

    /// Returns the lines that are whole now, without their ends.
    public mutating func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(finish() ?? [])
            } else {
                rest.append(byte)
                if rest.count >= limit, let line = finish() { lines.append(line) }
            }
        }
        return lines
    }

    /// Returns the bytes after the last line's end, if there are any.
    public mutating func finish() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = [] }
        return rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest
    }
}
