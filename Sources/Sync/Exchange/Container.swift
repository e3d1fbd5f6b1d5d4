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

    /// What was in it at one look.
    struct Listing {
        /// Files at the root that are named as marks of the group.
        var marks: [RemoteFile] = []
        /// Uploads under way, or of runs that were killed.
        var partials: [RemoteFile] = []
        /// By folder.
        var files: [Folder: [RemoteFile]] = [:]

        var all: [(folder: Folder, file: RemoteFile)] {
            Folder.allCases.flatMap { folder in
                (files[folder] ?? []).sorted { $0.name < $1.name }.map { (folder, $0) }
            }
        }

        /// Indexes of baselines, the newest first, then parts likewise, then all else as it was written.
        var inReadingOrder: [(folder: Folder, file: RemoteFile)] {
            let base = (files[.base] ?? []).sorted { $0.name > $1.name }
            let isIndex = { (file: RemoteFile) in file.name.contains(".base") }
            return (base.filter(isIndex) + base.filter { !isIndex($0) }).map { (.base, $0) }
                + all.filter { $0.folder != .base }
        }
    }

    /// The greatest length of a file that is read into memory: header, body and what is around them.
    static let readableSize: Int64 = 64 + (1 << 20) + (16 << 20)

    let root: any RemoteFolder
    public let group: GroupName
    /// The directory for copies of what is not on this machine.
    let scratch: FilePath
    let prefetched = Prefetch()

    public init(_ root: any RemoteFolder, group: GroupName, scratch: FilePath) {
        self.root = root
        self.group = group
        self.scratch = scratch
    }

    public var address: String { root.address }

    func folder(_ name: String?) -> any RemoteFolder {
        guard let name else { return root }
        return root.subfolder(group.description).subfolder(name)
    }

    /// Lists the container: one process of rclone's, elsewhere four listings.
    ///
    /// - Throws: `RemoteError.missing` if it is not there.
    func look() async throws -> Listing {
        if let root = root as? any BatchFolder {
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
            listing.files[folder] = visible(try await self.folder(folder.rawValue).list())
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

    /// Hidden files are uploads under way, or another program's.
    private func visible(_ files: [RemoteFile]) -> [RemoteFile] {
        files.filter { !$0.name.hasPrefix(".") }
    }

    /// Reads a file, if it is not longer than any of ours can be.
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

    /// Removes files, those that are there.
    ///
    /// - Parameters:
    ///   - files: their names, and the folders of the group that they are in; `nil` for the container's root.
    ///   - check: throws to stop before the next file.
    ///   - removed: told the index of each file that is gone.
    /// - Throws: `RemoteError`; what `check` and `removed` throw.
    func remove(
        _ files: [(folder: String?, name: String)],
        check: () throws -> Void,
        removed: (Int) throws -> Void = { _ in }
    ) async throws {
        if files.isEmpty { return }
        if let root = root as? any BatchFolder {
            try await root.delete(files.map { place($0.name, in: $0.folder) }, scratch: scratch)
            for index in files.indices { try removed(index) }
            return
        }
        for (index, file) in files.enumerated() {
            try check()
            do {
                try await folder(file.folder).delete(file.name)
            } catch RemoteError.notSynced {
                // It is gone; should it come back, it is in nobody's way.
            }
            try removed(index)
        }
    }
}
