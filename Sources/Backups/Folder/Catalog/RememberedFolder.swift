internal import Files
package import Remotes
package import SystemPackage

/// The files of a folder that cannot be reached now, as the catalog remembers them; they can only be listed.
package struct RememberedFolder: RemoteFolder {
    package let description: String
    private let files: [RemoteFile]

    private init(_ address: String, files: [RemoteFile] = []) {
        description = address
        self.files = files
    }

    /// Returns a folder with the remembered backups of another; looking at it records nothing.
    package static func folder(for folder: BackupFolder) -> BackupFolder {
        let catalog = folder.memory.catalog
        var memory = BackupMemory(catalog: catalog.withoutRecords, log: folder.memory.log)
        memory.checkCancellation = folder.memory.checkCancellation
        var remembered = BackupFolder(
            RememberedFolder(folder.address, files: catalog.remembered(in: folder.address)),
            staging: folder.staging,
            workplace: folder.workplace,
            memory: memory,
            timeZone: folder.timeZone
        )
        remembered.origin = folder.origin
        return remembered
    }

    private var error: RemoteError {
        .unreachable(description, reason: "only its list of files is remembered")
    }

    package func list() -> [RemoteFile] { files }

    package func upload(_ file: FilePath, as name: String) throws -> RemoteFile { throw error }

    package func download(_ name: String, to path: FilePath) throws { throw error }

    package func download(_ name: String, range: Range<Int64>) throws -> [UInt8] { throw error }

    package func move(_ name: String, to folder: any RemoteFolder, as newName: String) throws {
        throw error
    }

    package func delete(_ name: String) throws { throw error }

    /// Returns an empty folder: the catalog itself remembers annotations.
    package func subfolder(_ name: String) -> any RemoteFolder {
        RememberedFolder("\(description)/\(name)")
    }
}
