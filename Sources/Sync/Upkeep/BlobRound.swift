internal import Changes
internal import Files
internal import Remotes

/// The weekly check of the long values that this device sent.
///
/// A value that no row has referred to for a month is removed. Just before, another device may have found it in the
/// container. That device's file with the reference may still be on its way. So this device sends its value again if
/// it is gone and rows refer to it.
struct BlobRound {
    let sidecar: Sidecar
    let container: Container
    let rules: UpkeepRules
    /// The current time, in milliseconds since 1970.
    let now: Int64
    let listing: Container.Listing

    /// Returns whether a check is due.
    func isDue() throws -> Bool {
        try sidecar.read { access in
            guard let last = try access.integer("blobs") else { return true }
            return now - last >= rules.blobRound || now < last
        }
    }

    /// Removes values, or records since when they are idle.
    ///
    /// - Parameter check: a closure that throws to stop.
    /// - Returns: the values that rows refer to and that are missing.
    /// - Throws: `RemoteError`, `SidecarError`; any error of `check`.
    func run(check: () throws -> Void) async throws -> Set<Digest> {
        let sent = try sidecar.read { try $0.sentBlobs() }
        if sent.isEmpty { return [] }
        let there = try await names(in: Set(sent.map(\.folder)), check)
        let wanted = try sidecar.read { try $0.wantedBlobs(among: Set(sent.map(\.content))) }
        let knowsAll = try sidecar.read(knowsAll)
        var missing: Set<Digest> = []
        var removed: [SentBlob] = []
        try sidecar.write { access in
            for blob in sent {
                let isThere = there.contains(blob.name)
                if wanted.contains(blob.content) {
                    if !isThere { missing.insert(blob.content) }
                    try access.setIdle(nil, blob)
                } else if !isThere {
                    // If a row refers to it again, it is sent again.
                    try access.disown(blob)
                } else if let idle = blob.idle, idle <= now {
                    if knowsAll, now - idle >= rules.blobKeeping { removed.append(blob) }
                } else {
                    try access.setIdle(now, blob)
                }
            }
        }
        // They are forgotten first: a value that is removed and not forgotten would never be sent again.
        try sidecar.write { access in
            for blob in removed { try access.disown(blob) }
        }
        try await container.remove(removed.map { ($0.folder, $0.name) }, check: check)
        return missing
    }

    /// Returns whether every file of the container was read, or is covered; another file could refer to any value.
    private func knowsAll(_ access: SidecarAccess) throws -> Bool {
        guard try access.waitingFiles().isEmpty else { return false }
        let cover = Cover(try access.standIns())
        return try listing.all.allSatisfy { folder, file in
            try folder == .info || access.file(named: file.name) != nil
                || access.isForeign(file.name)
                || access.hasSeen(name: file.name, size: file.size)
                || cover.id(of: file.name, in: folder) != nil
        }
    }

    private func names(
        in folders: Set<String>,
        _ check: () throws -> Void
    ) async throws -> Set<String> {
        if let root = container.root.batches {
            let ways = folders.sorted().map { [container.group.description, $0] }
            return Set(try await root.list(ways).values.joined().map(\.name))
        }
        var names: Set<String> = []
        for folder in folders.sorted() {
            try check()
            names.formUnion(try await container.folder(folder).list().map(\.name))
        }
        return names
    }
}
