internal import Changes
internal import Files
internal import Remotes

/// The decision whether a baseline is to be written now, and of which files it tells.
struct Compaction {
    let access: SidecarAccess
    let rules: UpkeepRules
    /// Milliseconds since 1970.
    let now: Int64
    let listing: Container.Listing

    /// Returns the files that a baseline has to cover; `nil` if none is to be written.
    ///
    /// It is one that the container lacks, if it is to be filled, or files of this device are gone.
    func covers(refills: Bool) throws -> [Digest]? {
        let standing = try access.standIns().standing(in: listing)
        let cover = Cover(standing)
        let isLost = try hasLostFiles(cover)
        // Blobs are not listed: where one file is gone, they may be, too.
        if isLost || refills { try access.set("resend", 1) }
        guard try refills || isLost || isCrowded(cover, standing) && isOurTurn() else { return nil }
        return try files()
    }

    /// Whether files that this device published are gone, and nothing stands for them: then others may
    /// never have read them.
    private func hasLostFiles(_ cover: Cover) throws -> Bool {
        let there = Set(listing.all.map(\.file.name))
        var isLost = false
        for file in try access.ownFiles() where !there.contains(file.name) {
            // A clock that was put right since may be behind that time.
            guard let published = file.published, abs(now - published) >= rules.patience else {
                continue
            }
            if cover.has(file.id) {
                try access.setRemoved(file.id, at: now)
            } else {
                isLost = true
            }
        }
        return isLost
    }

    private func isCrowded(_ cover: Cover, _ standing: [StandIn]) throws -> Bool {
        let log = (listing.files[.log] ?? []).filter { cover.id(of: $0.name, in: .log) == nil }
        let bytes = log.reduce(0) { $0 + $1.size }
        let newest = standing.filter { $0.complete != nil && $0.parts != [$0.id] }.last
        let parts = Set((newest?.parts ?? []).map(\.short))
        let baseBytes = (listing.files[.base] ?? []).reduce(Int64(0)) { sum, file in
            if case .part(_, _, let id)? = ContainerName(file: file.name, in: "base"),
                parts.contains(id)
            {
                return sum + file.size
            }
            return sum
        }
        return log.count > rules.files || bytes > max(rules.bytes, baseBytes / 2)
    }

    /// One device writes it, that with the least id; should it not, any other does.
    private func isOurTurn() throws -> Bool {
        let own = try access.own
        let least = try access.leastDevice(heardSince: now - rules.attendance) ?? own
        if own <= least { return true }
        guard let since = try access.integer("crowded") else {
            try access.set("crowded", now)
            return rules.deference == 0
        }
        return now - since >= rules.deference
    }

    /// The files of data that are in the state: those that are there, and those of this device that should.
    private func files() throws -> [Digest] {
        try access.forget("crowded")
        var ids = Set(try access.ownFiles().map(\.id))
        for (folder, file) in listing.all where folder != .info {
            if let known = try access.file(named: file.name) { ids.insert(known.id) }
        }
        return ids.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}
