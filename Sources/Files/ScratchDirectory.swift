internal import Synchronization
public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A directory of our own, mode 0700, that is removed with the last reference to it.
///
/// It is locked while it is in use (flock(2)). So the next one that is made in the same place knows
/// those that killed runs left from those that other runs use, and removes the former.
public final class ScratchDirectory: Sendable {
    public let path: FilePath
    private let directory: Directory

    /// Long enough that no user gives a directory such a name: one that has it may be removed.
    public static let prefix = ".grocerydude-scratch."

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

    /// Runs `body` with the path of a new one, which is removed after it.
    ///
    /// - Throws: `FileError`; what `body` throws.
    public static func with<Result>(
        in parent: FilePath,
        _ body: (FilePath) throws -> Result
    ) throws -> Result {
        try withExtendedLifetime(ScratchDirectory(in: parent)) { try body($0.path) }
    }

    private static func make(in parent: FilePath) throws -> FilePath {
        let template = parent.appending("\(prefix)XXXXXX")
        var bytes: [CChar] = []
        try systemCall(.create, template) {
            bytes = template.withPlatformString {
                Array(UnsafeBufferPointer(start: $0, count: template.length + 1))
            }
            return mkdtemp(&bytes) == nil ? -1 : 0
        }
        return FilePath(platformString: bytes)
    }

    /// Opens and locks a scratch directory; `nil` if another run has it, or has removed it.
    private static func locked(_ path: FilePath) throws -> Directory? {
        do {
            let directory = try Directory.open(path)
            let isLocked = uninterrupted { flock(directory.descriptor, LOCK_EX | LOCK_NB) } == 0
            let isInPlace = try FileInfo.ifPresent(path)?.identity == directory.info().identity
            return isLocked && isInPlace ? directory : nil
        } catch let error as FileError where error.isMissing {
            return nil
        }
    }

    /// Removes those that killed runs of this user left; one that cannot be removed is in nobody's way.
    public static func removeAbandoned(in parent: FilePath) {
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

    /// Returns whether `mkdtemp` makes such a name of our template.
    public static func isScratch(_ name: FileName) -> Bool {
        let suffix = String(decoding: name.bytes.dropFirst(prefix.utf8.count), as: UTF8.self)
        return name.bytes.starts(with: prefix.utf8) && suffix.count == 6
            && suffix.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// The directories of this process that could not be removed; the next one in the same place removes
    /// them.
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
