internal import Foundation
internal import Synchronization
public import SystemPackage

/// A private directory with mode 0700 that is removed with its last reference.
///
/// It is locked while it is in use (flock(2)). So a new one in the same place can distinguish the leftovers of killed
/// runs from the directories of active runs, and removes the former.
public final class ScratchDirectory: Sendable {
    public let path: FilePath
    private let directory: Directory

    /// The prefix of names, so long that no user chooses it; a directory with it may be removed.
    public static let prefix = ".grocerydude-scratch."

    /// Creates a directory with a unique name.
    ///
    /// - Parameter parent: the directory in which to create it.
    /// - Throws: `FileError`.
    public init(in parent: FilePath) throws {
        Self.removeAbandoned(in: parent)
        while true {
            let path = try Self.make(in: parent)
            // Before it is locked, another run may consider it abandoned and remove it.
            if let directory = try Self.locked(path) {
                self.path = path
                self.directory = directory
                return
            }
        }
    }

    /// Runs `body` with the path of a new directory, which is removed afterwards.
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

    /// Opens and locks a scratch directory; `nil` if another run uses it or has removed it.
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

    /// Removes the leftovers of this user's killed runs; failures are ignored.
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

    /// Returns whether the name has the form that `mkdtemp` creates from the template.
    public static func isScratch(_ name: FileName) -> Bool {
        let suffix = String(decoding: name.bytes.dropFirst(prefix.utf8.count), as: UTF8.self)
        return name.bytes.starts(with: prefix.utf8) && suffix.count == 6
            && suffix.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// The directories of this process that could not be removed.
    ///
    /// The next one in the same place removes them.
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
