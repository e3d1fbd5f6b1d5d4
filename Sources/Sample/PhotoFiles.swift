internal import Files
internal import Foundation
internal import SystemPackage

/// The photos of a store: files beside it that rows refer to in Core Data's form.
struct PhotoFiles {
    /// The maximum size of a photo in bytes.
    static let limit: Int64 = 256 << 20

    let directory: FilePath

    /// Photos that are being added, and are removed if their rows are not kept.
    final class Added {
        private let directory: FilePath
        private let isSynced: Bool
        fileprivate private(set) var paths: [FilePath] = []

        fileprivate init(to directory: FilePath, isSynced: Bool) {
            self.directory = directory
            self.isSynced = isSynced
        }

        /// Adds a photo.
        ///
        /// - Returns: the reference to it: 0x02, the file's name (a UUID as text), and NUL.
        func add(_ photo: [UInt8]) throws -> Data {
            try LocalFileSystem().createDirectories(directory)
            let name = UUID().uuidString
            let path = directory.appending(name)
            let file = try File.create(path)
            paths.append(path)
            try photo.withUnsafeBytes { try file.write($0, at: 0) }
            if isSynced { try file.sync() }
            return Data([2]) + Data(name.utf8) + Data([0])
        }
    }

    /// Runs `body`, which adds photos and their rows; removes the photos if it throws.
    ///
    /// - Parameters:
    ///   - isSynced: whether to sync each photo to the disk before its row.
    ///   - body: receives the collector of added photos.
    /// - Returns: the result of `body`.
    /// - Throws: what `body` throws.
    func whileAdding<Result>(
        isSynced: Bool,
        _ body: (Added) throws -> Result
    ) throws -> Result {
        let added = Added(to: directory, isSynced: isSynced)
        do {
            return try body(added)
        } catch {
            for path in added.paths { try? LocalFileSystem().remove(path) }
            throw error
        }
    }

    /// Returns the path of the photo that a row refers to.
    func path(of reference: Data) -> FilePath {
        directory.appending(String(decoding: reference.dropFirst().dropLast(), as: UTF8.self))
    }

    /// Reads a photo.
    func read(_ reference: Data) throws -> Data {
        try Data(File.contents(of: path(of: reference), limit: Self.limit))
    }
}
