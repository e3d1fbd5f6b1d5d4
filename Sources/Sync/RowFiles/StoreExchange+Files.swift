internal import Changes
internal import Files
internal import Stores

// Files beside a store are written before the rows that name them, and removed after them.
extension StoreExchange {
    var files: ExternalFiles { ExternalFiles(of: store) }

    /// Records the files that may be without a row once a plan is done, or given up.
    ///
    /// These are the files that it writes, and those of values that it removes.
    func noteFiles(
        of plan: WritePlan,
        writing new: [RowFile: BlobReference],
        _ access: SidecarAccess
    ) throws {
        var taken: Set<Digest> = []
        for step in plan.steps where step.table.columns.contains(where: { $0.files != nil }) {
            for (_, part) in try step.old?.parts() ?? [] {
                if case .hash(.blob, let digest) = part { taken.insert(digest) }
            }
        }
        let old =
            taken.isEmpty
            ? [] : try files.filesOfValues().filter { $0.digest.map(taken.contains) == true }
        let pending = Set(new.keys.filter(\.isOfValue) + old)
        if pending.isEmpty { return }
        let names = try pending.union(access.pendingFiles).map(\.path.description)
        try access.set("files", names.sorted().joined(separator: "\n"))
    }

    /// Writes the files that rows of a plan will name.
    ///
    /// - Returns: `false` if the content of a file is not here any more, or if its name is taken by another content.
    func writeFiles(_ new: [RowFile: BlobReference]) throws -> Bool {
        let (blobs, files) = (BlobCache(sidecar: sidecar), files)
        for (file, content) in new.sorted(by: { $0.key.path < $1.key.path }) {
            if try files.isTaken(file) {
                if try files.content(of: file) == content { continue }
                return false
            }
            guard let bytes = try blobs.content(content) else { return false }
            try files.write(bytes, as: file)
        }
        return true
    }

    /// Removes the recorded files that no row names, and keeps them for rows that a person takes back.
    ///
    /// A row of another store may name any file in a directory that it shares, so they stay there.
    func tidyFiles() throws {
        let pending = try sidecar.read { try $0.pendingFiles }
        if pending.isEmpty || options.isDryRun { return }
        let isShared = try files.mayBeShared()
        let snapshot = try snapshot()
        let named = try withExtendedLifetime(snapshot) { try snapshot.externalReferences() }
        for file in pending where !isShared && !named.contains(file.path.description) {
            if try files.isTooLong(file) { continue }
            if let bytes = try files.read(file) { try KeptFiles(sidecar: sidecar).keep(bytes) }
            try files.remove(file)
        }
        try sidecar.write { try $0.set("files", nil) }
    }
}

extension SidecarAccess {
    /// The files to remove if no row names them.
    fileprivate var pendingFiles: [RowFile] {
        get throws {
            (try text("files") ?? "").split(separator: "\n").compactMap {
                RowFile(ofValue: Array($0.utf8))
            }
        }
    }
}

extension RowFile {
    /// The hash that represents it in the image of a row.
    fileprivate var digest: Digest? {
        if case .hash(_, let digest) = RowImage.Part(value) { digest } else { nil }
    }
}
