internal import Changes
internal import Files
internal import Remotes
internal import SystemPackage

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

    /// Returns whether a check is due: after a week, or if a folder of this machine has lost or cut a value.
    func isDue() throws -> Bool {
        try sidecar.read { access in
            guard let last = try access.integer("blobs") else { return true }
            if now - last >= rules.blobRound || now < last { return true }
            guard let root = container.root.directory?.appending(container.group.description) else {
                return false
            }
            return try access.files.sentBlobs().contains { blob in
                let path = root.appending(blob.folder).appending(blob.name)
                return try FileInfo.ifPresent(path)?.size != blob.size
            }
        }
    }

    /// Removes values, or records since when they are idle.
    ///
    /// - Parameter check: a closure that throws to stop.
    /// - Returns: the values that rows refer to and that are missing.
    /// - Throws: `RemoteError`, `SidecarError`; any error of `check`.
    func run(check: () throws -> Void) async throws -> Set<Digest> {
        let sent = try sidecar.read { try $0.files.sentBlobs() }
        if sent.isEmpty { return [] }
        let sizes = try await sizes(in: Set(sent.map(\.folder)), check)
        let wanted = try sidecar.read { try $0.files.wantedBlobs(among: Set(sent.map(\.content))) }
        let knowsAll = try sidecar.read(knowsAll)
        var missing: Set<Digest> = []
        var removed: [SentBlob] = []
        let cut = sent.filter { (sizes[$0.name] ?? $0.size) != $0.size }
        try sidecar.write { access in
            for blob in sent {
                let isThere = sizes[blob.name] == blob.size
                if wanted.contains(blob.content) {
                    if !isThere { missing.insert(blob.content) }
                    try access.files.setIdle(nil, blob)
                } else if !isThere {
                    // If a row refers to it again, it is sent again.
                    try access.files.disown(blob)
                } else if let idle = blob.idle, idle <= now {
                    if knowsAll, now - idle >= rules.blobKeeping { removed.append(blob) }
                } else {
                    try access.files.setIdle(now, blob)
                }
            }
        }
        // They are forgotten first: a value that is removed and not forgotten would never be sent again.
        try sidecar.write { access in
            for blob in removed { try access.files.disown(blob) }
        }
        // One that is cut has to go before it is sent again.
        try await container.remove((removed + cut).map { ($0.folder, $0.name) }, check: check)
        return missing
    }

    /// Returns whether every file of the container was read; another file could refer to any value.
    private func knowsAll(_ access: SidecarAccess) throws -> Bool {
        guard try access.files.waiting().isEmpty else { return false }
        return try listing.all.allSatisfy { folder, file in
            try folder == .info || access.files.file(named: file.name) != nil
                || access.files.isForeign(file.name)
                || access.files.hasSeen(name: file.name, size: file.size)
        }
    }

    private func sizes(
        in folders: Set<String>,
        _ check: () throws -> Void
    ) async throws -> [String: Int64] {
        var files: [RemoteFile] = []
        if let root = container.root.batches {
            let ways = folders.sorted().map { [container.group.description, $0] }
            files = try await root.list(ways).values.flatMap(\.self)
        } else {
            for folder in folders.sorted() {
                try check()
                files += try await container.folder(folder).list()
            }
        }
        return Dictionary(files.map { ($0.name, $0.size) }) { first, _ in first }
    }
}
