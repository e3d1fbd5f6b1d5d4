public import SystemPackage

/// A path below a directory, as bytes: the name of an archive's entry.
///
/// It holds any bytes that Linux allows in names. It has at least one component, and none that is
/// empty, `.`, `..` or has a NUL, so that its text never leads out of the directory. (Nor does a
/// symbolic link: `Directory` follows none.)
public struct RelativePath: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The bytes, with `/` between components and none at either end.
    public let bytes: [UInt8]

    /// Makes a path of bytes that may come from anywhere.
    ///
    /// - Throws: `FileError.unsafeName` saying what is wrong with them.
    public init(validating bytes: some Collection<UInt8>) throws(FileError) {
        // Copied first: the compiler makes fast code of an array alone, whatever module asks.
        let bytes = Array(bytes)
        if let fault = bytes.withUnsafeBufferPointer(Self.fault) {
            throw .unsafeName(printable(bytes: bytes), reason: fault)
        }
        self.bytes = bytes
    }

    /// Returns what is wrong with the bytes of a path; `nil` if nothing is.
    private static func fault(of bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard let first = bytes.first else { return "it is empty" }
        guard first != slash else { return "it is an absolute path" }
        guard !bytes.contains(0) else { return "it has a NUL in it" }
        var rest = bytes[...]
        while true {
            let component = rest.prefix { $0 != slash }
            switch component.count {
            case 0: return "it has an empty component"
            case 1 where component.first == dot: return "it has a '.' component"
            case 2 where component.allSatisfy({ $0 == dot }):
                return "it leaves the directory with '..'"
            case 256...: return "it has a component of more than 255 bytes"
            default: break
            }
            guard component.endIndex < rest.endIndex else { return nil }
            rest = rest[(component.endIndex + 1)...]
        }
    }

    /// Makes a path of text; see `init(validating:)`.
    public init(_ text: String) throws(FileError) {
        try self.init(validating: Array(text.utf8))
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The path of a name that a directory listing gave.
    public init(name: FileName) {
        self.init(unchecked: name.bytes)
    }

    /// Returns the path of a name inside this one.
    public func appending(_ name: FileName) -> RelativePath {
        RelativePath(unchecked: bytes + CollectionOfOne(slash) + name.bytes)
    }

    /// Returns the path of a name beside this one.
    public func sibling(_ name: FileName) -> RelativePath {
        parent?.appending(name) ?? RelativePath(name: name)
    }

    /// The last component.
    public var name: FileName {
        guard let end = bytes.lastIndex(of: slash) else { return FileName(unchecked: bytes) }
        return FileName(unchecked: Array(bytes[(end + 1)...]))
    }

    /// All components but the last, or `nil` if there is only one.
    public var parent: RelativePath? {
        bytes.lastIndex(of: slash).map { RelativePath(unchecked: Array(bytes[..<$0])) }
    }

    /// The components, in order.
    public var components: [FileName] {
        bytes.split(separator: slash).map { FileName(unchecked: Array($0)) }
    }

    /// Returns the path without its first components; `nil` if it has no more.
    public func dropping(first count: Int) -> RelativePath? {
        let rest = components.dropFirst(count).map(\.bytes)
        return rest.isEmpty ? nil : RelativePath(unchecked: Array(rest.joined(separator: [slash])))
    }

    /// Returns this path in a directory.
    public func below(_ directory: FilePath) -> FilePath {
        let bytes = bytes.map { CInterop.PlatformChar(bitPattern: $0) } + [0]
        return directory.appending(FilePath(platformString: bytes).components)
    }

    /// Escaped for printing.
    public var description: String { printable(bytes: bytes) }

    public static func < (left: RelativePath, right: RelativePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

private let slash = UInt8(ascii: "/")
private let dot = UInt8(ascii: ".")
