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
        writing new: [ExternalReference: BlobReference],
        _ access: SidecarAccess
    ) throws {
        var taken: Set<Digest> = []
        for step in plan.steps where step.table.columns.contains(where: \.holdsFiles) {
            for (_, part) in try step.old?.parts() ?? [] {
                if case .hash(.blob, let digest) = part { taken.insert(digest) }
            }
        }
        let old =
            taken.isEmpty ? [] : try files.names().filter { $0.digest.map(taken.contains) == true }
        let names = Set(new.keys.map(\.name) + old.map(\.name))
        if names.isEmpty { return }
        let all = try names.union(access.pendingFiles.map(\.name))
        try access.set("files", all.sorted().joined(separator: "\n"))
    }

    /// Writes the files that rows of a plan will name.
    ///
    /// - Returns: `false` if the content of a file is not here any more, or if its name is taken by another content.
    func writeFiles(_ new: [ExternalReference: BlobReference]) throws -> Bool {
        let (blobs, files) = (BlobCache(sidecar: sidecar), files)
        for (name, content) in new.sorted(by: { $0.key.name < $1.key.name }) {
            if try files.isTaken(name) {
                if try files.content(of: name) == content { continue }
                return false
            }
            guard let bytes = try blobs.content(content) else { return false }
            try files.write(bytes, as: name)
        }
        return true
    }

    /// Removes the recorded files that no row names.
    func tidyFiles() throws {
        let pending = try sidecar.read { try $0.pendingFiles }
        if pending.isEmpty { return }
        let snapshot = try snapshot()
        let named = try withExtendedLifetime(snapshot) { try snapshot.externalReferences() }
        for reference in pending where !named.contains(reference.name) {
            try files.remove(reference)
        }
        try sidecar.write { try $0.set("files", nil) }
    }
}

extension SidecarAccess {
    /// The files to remove if no row names them.
    fileprivate var pendingFiles: [ExternalReference] {
        get throws {
            (try text("files") ?? "").split(separator: "\n").compactMap {
                ExternalReference(name: $0.utf8)
            }
        }
    }
}

extension ExternalReference {
    /// The hash that represents it in the image of a row.
    fileprivate var digest: Digest? {
        if case .hash(_, let digest) = RowImage.Part(value) { digest } else { nil }
    }
}
