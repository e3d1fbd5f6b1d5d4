internal import Changes
internal import Files
internal import Foundation
internal import GRDB
internal import SystemPackage

/// The files beside the store that went with their rows, by the hashes of their content.
///
/// Each is kept as long as an entry of the list of what went refers to it, so that its row can come back whole.
struct KeptFiles {
    static let directoryName = "removed"

    let sidecar: Sidecar

    private var directory: FilePath { sidecar.directory.appending(Self.directoryName) }

    /// Keeps a file's content durably.
    ///
    /// - Throws: `FileError`.
    func keep(_ bytes: [UInt8]) throws {
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        try LocalFileSystem().createDirectories(directory)
        try LocalFileSystem().write(bytes, to: directory.appending(digest.description))
        try sidecar.write { try $0.set("kept", nil) }
    }

    /// Returns a kept content; `nil` if it is not here.
    ///
    /// - Throws: `FileError`.
    func content(_ blob: BlobReference) throws -> [UInt8]? {
        let path = directory.appending(blob.digest.description)
        guard try FileInfo.ifPresent(path)?.kind == .file else { return nil }
        let bytes = try File.contents(of: path, limit: Int64(BlobReference.maximumSize))
        return bytes.withUnsafeBytes { Digest(of: $0) } == blob.digest ? bytes : nil
    }

    /// Removes the oldest entries beyond the size for what went, with these files, and the files that no entry refers
    /// to: after files were kept, and once a day, since it reads all entries.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    func expire(_ rules: UpkeepRules, now: Int64) throws {
        let last = try sidecar.read { try $0.integer("kept") }
        if let last, (last..<last + rules.cardAge).contains(now) { return }
        try sidecar.write { try $0.set("kept", now) }
        guard try FileInfo.ifPresent(directory)?.kind == .directory else { return }
        var sizes: [String: Int64] = [:]
        for name in try Directory.open(directory).names() {
            sizes[name.description] =
                try FileInfo.ifPresent(directory.appending(name.description))?.size ?? 0
        }
        let used = try sidecar.write { try $0.removed.namesOfFiles(sizes, within: rules) }
        for name in sizes.keys where !used.contains(name) {
            try LocalFileSystem().remove(directory.appending(name))
        }
    }
}

extension RemovedRows {
    /// Returns the names of the kept files that entries refer to, and removes the oldest entries beyond the size.
    ///
    /// - Parameters:
    ///   - sizes: the sizes of all kept files by their names, which are the hashes of their content.
    ///   - rules: the greatest size of all that went.
    /// - Returns: the names.
    /// - Throws: `SidecarError`.
    fileprivate func namesOfFiles(
        _ sizes: [String: Int64],
        within rules: UpkeepRules
    ) throws -> Set<String> {
        if sizes.isEmpty { return [] }
        var names: Set<String> = []
        var size: Int64 = 0
        for row in try access.rows("SELECT won, lost, cells, n FROM removed ORDER BY n DESC") {
            var values = try cells(row.bytes(2)).map(\.value)
            for column in 0..<2 { values += try [decoded(row.bytes(column))].compactMap(\.self) }
            let added = Set(values.compactMap { $0.reference?.digest.description })
                .filter { sizes[$0] != nil }.subtracting(names)
            size += (0..<3).reduce(0) { $0 + Int64(row.bytes($1).count) }
            size += added.reduce(0) { $0 + (sizes[$1] ?? 0) }
            if size <= rules.removedBytes {
                names.formUnion(added)
            } else {
                let number: Int64 = row["n"]
                try access.run("DELETE FROM removed WHERE n = ?", [number])
            }
        }
        for row in try access.rows("SELECT value FROM lost") {
            guard let digest = try decoded(row.bytes(0))?.reference?.digest.description else {
                continue
            }
            if sizes[digest] != nil { names.insert(digest) }
        }
        return names
    }
}
