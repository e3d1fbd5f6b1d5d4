public import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// Removes everything that this machine has of a remote folder: its staging directory, and the records about it.
///
/// Nothing in the folder itself is touched.
public struct UnlinkFolder: Sendable {
    private let folder: BackupFolder
    private let context: OperationContext

    public init(_ folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Forgets the folder.
    ///
    /// - Returns: the staging directory's printable path, if it contains something other than remains of a run; it is
    ///   then left as it is.
    /// - Throws: `FileError`; `.locked` if another run uses the folder.
    public func run() async throws -> String? {
        folder.memory.catalog.forget(folder.address)
        try await folder.memory.catalog.save()
        // For a local folder, the staging directory is the folder itself.
        guard folder.remote.directory == nil, (try? Directory.open(folder.staging)) != nil else {
            return nil
        }
        return try await context.withLock(on: folder.staging) {
            let names = try Directory.open(folder.staging).names().map(\.description)
            guard names.allSatisfy(Self.isRemainder) else { return printable(folder.staging) }
            try LocalFileSystem().remove(folder.staging)
            return nil
        }
    }

    private static func isRemainder(_ name: String) -> Bool {
        PartialName.matches(name) || name.hasPrefix(ScratchDirectory.prefix)
    }
}
