public import SystemPackage

/// A path below a directory, as bytes: the name of an archive's entry.
///
/// It holds any bytes that Linux allows in names. It has at least one component, and none is empty, `.`, `..` or
/// contains a NUL. So its text never leads out of the directory. (A symbolic link does not either, since `Directory`
/// follows none.)
public struct RelativePath: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The maximum length in bytes of a path that a row of a store names: the system takes 4,096 with all that is before it.
    public static let longestInValue = 1024

    /// The bytes, with `/` between components and none at the beginning or the end.
    public let bytes: [UInt8]

    /// Creates a path from bytes of any origin.
    ///
    /// - Throws: `FileError.unsafeName` with the reason.
    public init(validating bytes: some Collection<UInt8>) throws(FileError) {
        // The copy is needed for speed: the compiler optimizes only arrays across modules.
        let bytes = Array(bytes)
        if let fault = bytes.withUnsafeBufferPointer(Self.fault) {
            throw .unsafeName(printable(bytes: bytes), reason: fault)
        }
        self.bytes = bytes
    }

    /// Returns the fault of a path's bytes; `nil` if there is none.
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

    /// Creates a path from text; see `init(validating:)`.
    public init(_ text: String) throws(FileError) {
        try self.init(validating: Array(text.utf8))
    }

    /// Creates a path from its description; `nil` if it is that of none.
    public init?(printed text: String) {
        guard let bytes = Files.bytes(printedAs: text), let path = try? Self(validating: bytes),
            path.description.utf8.elementsEqual(text.utf8)
        else { return nil }
        self = path
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a path from a name in a directory.
    public init(name: FileName) {
        self.init(unchecked: name.bytes)
    }

    /// Returns the path of a name in this directory.
    public func appending(_ name: FileName) -> RelativePath {
        RelativePath(unchecked: bytes + CollectionOfOne(slash) + name.bytes)
    }

    /// Returns the path of a name in the same directory.
    public func sibling(_ name: FileName) -> RelativePath {
        parent?.appending(name) ?? RelativePath(name: name)
    }

    /// The last component.
    public var name: FileName {
        guard let end = bytes.lastIndex(of: slash) else { return FileName(unchecked: bytes) }
        return FileName(unchecked: Array(bytes[(end + 1)...]))
    }

    /// All components except the last; `nil` if there is only one.
    public var parent: RelativePath? {
        bytes.lastIndex(of: slash).map { RelativePath(unchecked: Array(bytes[..<$0])) }
    }

    /// The paths of the directories above it, the outermost first.
    public var ancestors: [RelativePath] {
        bytes.indices.filter { bytes[$0] == slash }
            .map { RelativePath(unchecked: Array(bytes[..<$0])) }
    }

    /// The components, in order.
    public var components: [FileName] {
        bytes.split(separator: slash).map { FileName(unchecked: Array($0)) }
    }

    /// Returns the path without its first components; `nil` if none are left.
    public func dropping(first count: Int) -> RelativePath? {
        let rest = components.dropFirst(count).map(\.bytes)
        return rest.isEmpty ? nil : RelativePath(unchecked: Array(rest.joined(separator: [slash])))
    }

    /// Returns this path below a directory.
    public func below(_ directory: FilePath) -> FilePath {
        let bytes = bytes.map { CInterop.PlatformChar(bitPattern: $0) } + [0]
        return directory.appending(FilePath(platformString: bytes).components)
    }

    /// The path, escaped for printing; no other has the same text.
    public var description: String { printable(uniquely: bytes) }

    public static func < (left: RelativePath, right: RelativePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

private let slash = UInt8(ascii: "/")
private let dot = UInt8(ascii: ".")
