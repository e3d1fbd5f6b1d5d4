internal import Synchronization
public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A directory of our own, mode 0700, that is removed with the last reference to it.
///
/// It is locked as long as it is in use (flock(2)), so that what a killed run left can be told from
/// what another run works in: the next one that is made in the same place removes it.
public final class ScratchDirectory: Sendable {
    /// Its path.
    public let path: FilePath
    private let directory: Directory

    /// Long enough that no user calls a directory so: what has this name may be removed.
    private static let prefix = ".grocerydude-scratch."

    /// Makes a new one, with a name that nothing else has.
    ///
    /// - Parameter parent: where to make it.
    /// - Throws: `FileError`.
    public init(in parent: FilePath) throws {
        Self.removeAbandoned(in: parent)
        while true {
            let path = try Self.make(in: parent)
            // Another run may take it for abandoned before it is locked; then it is gone.
            if let directory = try Self.locked(path) {
                self.path = path
                self.directory = directory
                return
            }
        }
    }

    private static func make(in parent: FilePath) throws -> FilePath {
        let template = parent.appending("\(prefix)XXXXXX")
        var bytes = template.withPlatformString {
            Array(UnsafeBufferPointer(start: $0, count: template.length + 1))
        }
        let fresh = bytes
        let status = uninterrupted {
            bytes = fresh
            return bytes.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.map { mkdtemp($0) != nil } ?? false
            } ? 0 : -1
        }
        guard status == 0 else {
            throw FileError.failed(.create, template, Errno(rawValue: errno))
        }
        return FilePath(platformString: bytes)
    }

    /// Opens and locks a scratch directory; `nil` if another run has it, or has removed it.
    private static func locked(_ path: FilePath) throws -> Directory? {
        do {
            let directory = try Directory.open(path)
            guard uninterrupted({ flock(directory.descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
                return nil
            }
            return try FileInfo.ifPresent(path)?.identity == directory.info().identity
                ? directory : nil
        } catch let error as FileError where error.isMissing {
            return nil
        }
    }

    /// Removes what killed runs of this user left; what cannot be removed is in nobody's way.
    private static func removeAbandoned(in parent: FilePath) {
        guard let directory = try? Directory.open(parent), let names = try? directory.names() else {
            return
        }
        for name in names where isScratch(name) {
            guard let info = try? directory.info(name), info.kind == .directory,
                info.owner == geteuid()
            else { continue }
            let path = directory.path(of: name)
            guard let abandoned = try? locked(path) else { continue }
            withExtendedLifetime(abandoned) { try? LocalFileSystem().remove(path) }
        }
    }

    /// Whether a name is one that `mkdtemp` makes of our template, and not that of a user's directory.
    private static func isScratch(_ name: FileName) -> Bool {
        let suffix = name.bytes.dropFirst(prefix.utf8.count)
        return name.bytes.starts(with: prefix.utf8) && suffix.count == 6
            && suffix.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isASCII && (character.isLetter || character.isNumber)
            }
    }

    /// The directories of this process that could not be removed, to be told; the next one that is made in the same
    /// place removes it.
    public static var left: [FilePath] { unremoved.withLock { $0 } }

    private static let unremoved = Mutex<[FilePath]>([])

    deinit {
        do {
            try LocalFileSystem().remove(path)
        } catch {
            Self.unremoved.withLock { $0.append(path) }
        }
    }
}
