public import SystemPackage

/// A place that bytes are written to, each once and in order: a file, or a program that takes them.
public protocol ByteSink: Sendable {
    /// The name that messages give it.
    var path: FilePath { get }

    /// Whether it collects what is written, so that many short writes cost no more than a long one.
    var collects: Bool { get }

    /// Writes all bytes at an offset, which is where the last ones ended.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws

    /// See `File`.
    func setUncached(_ isUncached: Bool) -> Bool
    /// See `File`.
    func beginWriteback(from offset: Int64, length: Int64)
    /// See `File`.
    func finishWriteback(from offset: Int64, length: Int64)
}

extension ByteSink {
    public var collects: Bool { false }
    public func setUncached(_ isUncached: Bool) -> Bool { false }
    public func beginWriteback(from offset: Int64, length: Int64) {}
    public func finishWriteback(from offset: Int64, length: Int64) {}
}
