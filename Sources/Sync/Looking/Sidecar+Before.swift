internal import Files
public import Stores
public import SystemPackage

extension Sidecar {
    /// The copy of the store from before it took part; `nil` if there is none.
    public var copyBefore: FilePath? {
        get throws { try FileInfo.ifPresent(before) == nil ? nil : before }
    }

    /// Keeps a copy of the store as it is before it takes part; one of an earlier time is replaced.
    ///
    /// - Throws: `StoreError`, `FileError`; what `checkCancellation` throws.
    public func keepBefore(
        _ snapshot: StoreSnapshot,
        checkCancellation: () throws -> Void = {}
    ) throws {
        try keep(snapshot, as: before, checkCancellation: checkCancellation)
    }

    /// Keeps a copy of a store; one of an earlier time is replaced.
    ///
    /// It is written beside, synced and then renamed, so that a copy that is there is whole.
    ///
    /// - Throws: `StoreError`, `FileError`; what `checkCancellation` throws.
    func keep(
        _ snapshot: StoreSnapshot,
        as path: FilePath,
        checkCancellation: () throws -> Void = {}
    ) throws {
        let fileSystem = LocalFileSystem()
        let draft = LocalFileSystem.draft(of: path)
        try fileSystem.remove(draft)
        do {
            let file = try File.create(draft)
            let pages = max(1, (1 << 20) / snapshot.pageSize)
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: pages * snapshot.pageSize,
                alignment: 4096
            )
            defer { buffer.deallocate() }
            var offset: Int64 = 0
            while offset < snapshot.size {
                try checkCancellation()
                let count = try snapshot.read(into: buffer, at: offset)
                guard count > 0 else { break }
                try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
                offset += Int64(count)
            }
            try file.sync()
            guard try snapshot.isStill() else {
                throw StoreError.neverStill(snapshot.path.description)
            }
        } catch {
            try? fileSystem.remove(draft)
            throw error
        }
        try fileSystem.remove(path)
        try fileSystem.move(draft, to: path)
        try fileSystem.sync(directory)
    }
}
