internal import Files
internal import Foundation
public import Stores
public import SystemPackage

extension Sidecar {
    /// The reasons for keeping a copy of a store.
    enum Kept: String {
        /// The store is about to take part.
        case before
        /// The store yields to the container, or to its content from before it took part.
        case yielded
    }

    /// The newest copy of the store from before it took part; `nil` if there is none.
    public var copyBefore: FilePath? {
        get throws { try copies(.before).last }
    }

    /// Keeps a copy of the store before it takes part, beside earlier copies.
    ///
    /// - Throws: `StoreError`, `FileError`; any error of `checkCancellation`.
    public func keepBefore(
        _ snapshot: StoreSnapshot,
        checkCancellation: () throws -> Void = {}
    ) throws {
        try keep(snapshot, as: .before, checkCancellation: checkCancellation)
    }

    /// Keeps a copy of the store before its content from before it took part replaces it.
    ///
    /// - Returns: the copy.
    /// - Throws: `StoreError`, `FileError`; any error of `checkCancellation`.
    public func keepYielded(
        _ snapshot: StoreSnapshot,
        checkCancellation: () throws -> Void = {}
    ) throws -> FilePath {
        try keep(snapshot, as: .yielded, checkCancellation: checkCancellation)
    }

    /// Returns the copies kept for a reason, oldest first.
    ///
    /// - Throws: `FileError`.
    func copies(_ reason: Kept) throws -> [FilePath] {
        var paths: [FilePath] = []
        while true {
            let path = copy(reason, number: paths.count + 1)
            guard try FileInfo.ifPresent(path) != nil else { return paths }
            paths.append(path)
        }
    }

    private func copy(_ reason: Kept, number: Int) -> FilePath {
        directory.appending(reason.rawValue + (number == 1 ? "" : "-\(number)") + ".sqlite")
    }

    /// Keeps a copy of a store, beside earlier copies.
    ///
    /// If the newest of those equals the store, it is the copy. A copy is written as a draft, synced and then
    /// renamed, so that every copy is complete.
    ///
    /// - Returns: the copy.
    /// - Throws: `StoreError`, `FileError`; any error of `checkCancellation`.
    @discardableResult
    func keep(
        _ snapshot: StoreSnapshot,
        as reason: Kept,
        checkCancellation: () throws -> Void = {}
    ) throws -> FilePath {
        let fileSystem = LocalFileSystem()
        let present = try copies(reason)
        let path = copy(reason, number: present.count + 1)
        let draft = LocalFileSystem.draft(of: copy(reason, number: 1))
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
        // If a killed run has kept a copy already, the next run does not keep another.
        if let newest = present.last, try Self.areEqual(draft, newest) {
            try fileSystem.remove(draft)
            return newest
        }
        try fileSystem.move(draft, to: path)
        try fileSystem.sync(directory)
        return path
    }

    private static func areEqual(_ one: FilePath, _ other: FilePath) throws -> Bool {
        let size = try FileInfo(of: one).size
        guard try FileInfo(of: other).size == size else { return false }
        let files = try [one, other].map { try File.open($0) }
        let count = 1 << 20
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * count, alignment: 4096)
        defer { buffer.deallocate() }
        let parts = [0, count].map {
            UnsafeMutableRawBufferPointer(rebasing: buffer[$0..<$0 + count])
        }
        for offset in stride(from: 0, to: size, by: count) {
            let counts = try zip(files, parts).map { try $0.read(into: $1, at: offset) }
            guard counts[0] == counts[1], let start = buffer.baseAddress,
                memcmp(start, start + count, counts[0]) == 0
            else { return false }
        }
        return true
    }
}
