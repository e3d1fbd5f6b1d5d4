public import Changes
internal import Files
public import Remotes
public import SystemPackage

/// A remote folder that the devices of a group share, and its layout.
public struct Container: Sendable {
    /// The folders of a group that are listed at each run.
    enum Folder: String, CaseIterable {
        case log, base, info
    }

    /// The content of the container at one moment.
    struct Listing {
        /// The files at the root with the names of the group's marks.
        var marks: [RemoteFile] = []
        /// The uploads in progress, or left by killed runs.
        var partials: [RemoteFile] = []
        /// The files by folder.
        var files: [Folder: [RemoteFile]] = [:]

        var all: [(folder: Folder, file: RemoteFile)] {
            Folder.allCases.flatMap { folder in
                (files[folder] ?? []).sorted { $0.name < $1.name }.map { (folder, $0) }
            }
        }

        /// The files in the order of reading: indexes of baselines, newest first, then their parts likewise, then
        /// all others in the order of writing.
        var inReadingOrder: [(folder: Folder, file: RemoteFile)] {
            let base = (files[.base] ?? []).sorted { $0.name > $1.name }
            let isIndex = { (file: RemoteFile) in file.name.contains(".base") }
            return (base.filter(isIndex) + base.filter { !isIndex($0) }).map { (.base, $0) }
                + all.filter { $0.folder != .base }
        }
    }

    /// The greatest length of a file that is read into memory: header, body and envelope.
    static let readableSize: Int64 = 64 + (1 << 20) + (16 << 20)

    let root: any RemoteFolder
    public let group: GroupName
    /// The directory for copies of remote files.
    let scratch: FilePath
    let prefetched = Prefetch()

    public init(_ root: any RemoteFolder, group: GroupName, scratch: FilePath) {
        self.root = root.shared
        self.group = group
        self.scratch = scratch
    }

    public var address: String { root.address }

    func folder(_ name: String?) -> any RemoteFolder {
        guard let name else { return root }
        return root.subfolder(group.description).subfolder(name)
    }

    /// Lists the container: by one process of rclone, elsewhere by four listings.
    ///
    /// - Throws: `RemoteError.missing` if it does not exist.
    func look() async throws -> Listing {
        if let root = root.batches {
            let ways = Folder.allCases.map { [group.description, $0.rawValue] }
            let files = try await root.list([[]] + ways)
            var listing = listing(ofRoot: files[[]] ?? [])
            for (folder, way) in zip(Folder.allCases, ways) {
                listing.files[folder] = visible(files[way] ?? [])
            }
            return listing
        }
        var listing = listing(ofRoot: try await root.list())
        for folder in Folder.allCases {
            var files = try await self.folder(folder.rawValue).list()
            for double in try doubles(of: folder.rawValue) { files += try await double.list() }
            listing.files[folder] = visible(files)
        }
        return listing
    }

    private func listing(ofRoot files: [RemoteFile]) -> Listing {
        Listing(
            marks: marks(among: files),
            partials: files.filter { PartialName.matches($0.name) }
        )
    }

    private func marks(among files: [RemoteFile]) -> [RemoteFile] {
        files.filter {
            $0.name.hasPrefix("\(group).") && $0.name.contains(".group") && $0.size < 1 << 20
        }
    }

    /// Returns the files that are not hidden; hidden files are uploads in progress, or another program's.
    private func visible(_ files: [RemoteFile]) -> [RemoteFile] {
        files.filter { !$0.name.hasPrefix(".") }
    }

    /// Reads a file, if it is not longer than any file of the format.
    ///
    /// - Throws: `RemoteError`, `FileError`; `ChangeError.malformed` if it is too long.
    func read(_ file: RemoteFile, in folder: String?) async throws -> [UInt8] {
        guard file.size <= Self.readableSize else {
            throw ChangeError.malformed(file.name, reason: "it is longer than such files are")
        }
        let near = prefetched.path(of: place(file.name, in: folder), size: file.size)
        if let location = file.location ?? near {
            return try File.contents(of: location, limit: Self.readableSize)
        }
        let directory = try ScratchDirectory(in: scratch)
        let copy = directory.path.appending("file")
        try await self.folder(folder).download(file.name, to: copy)
        return try File.contents(of: copy, limit: Self.readableSize)
    }

    /// Removes files, if they exist, also from the doubles of their folders.
    ///
    /// - Parameters:
    ///   - files: their names and folders in the group; `nil` for the container's root.
    ///   - check: a closure that is called before the next file, and throws to stop.
    ///   - removed: a closure that is called with the index of each removed file.
    /// - Throws: `RemoteError`; any error of `check` and `removed`.
    func remove(
        _ files: [(folder: String?, name: String)],
        check: () throws -> Void,
        removed: (Int) throws -> Void = { _ in }
    ) async throws {
        if files.isEmpty { return }
        if let root = root.batches {
            try await root.delete(files.map { place($0.name, in: $0.folder) }, scratch: scratch)
            for index in files.indices { try removed(index) }
            return
        }
        var places: [String?: [any RemoteFolder]] = [:]
        for (index, file) in files.enumerated() {
            try check()
            let folders =
                try places[file.folder] ?? [folder(file.folder)] + doubles(of: file.folder)
            places[file.folder] = folders
            for folder in folders {
                do {
                    try await folder.delete(file.name)
                } catch RemoteError.notSynced {
                    // The file is gone; if it comes back, it does no harm.
                }
            }
            try removed(index)
        }
    }
}
