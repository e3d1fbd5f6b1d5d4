/// A reader that splits a program's output, which arrives in parts, into lines.
public struct LineReader: Sendable {
    private var rest: [UInt8] = []
    /// The maximum length of a line in bytes; a longer one is split.
    private let limit: Int

    public init(limit: Int = 4096) {
        self.limit = limit
    }

    /// Returns the lines that are complete now, without their ends.
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

    /// Returns the bytes after the last line break, if there are any.
    public mutating func finish() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = [] }
        return rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest
    }
}
