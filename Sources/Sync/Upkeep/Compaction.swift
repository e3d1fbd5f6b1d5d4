internal import Changes
internal import Files
internal import Remotes

/// The decision whether to write a baseline now, and which files it covers.
struct Compaction {
    let access: SidecarAccess
    let rules: UpkeepRules
    /// The current time, in milliseconds since 1970.
    let now: Int64
    let listing: Container.Listing

    /// Returns the files that a baseline has to cover; `nil` if none is to be written.
    ///
    /// A baseline is written if the container is to be filled, or if files are lost. It is also written if the
    /// container is crowded and it is this device's turn.
    func covers(refills: Bool) throws -> [Digest]? {
        let standIns = try access.files.standIns()
        let standing = standIns.standing(in: listing)
        let cover = Cover(standing)
        let losses = try Losses(of: listing, standIns, access, rules, now: now)
        for file in losses.ownCovered where !rules.mayBeUnlisted(file, now) {
            try access.files.setRemoved(file.id, at: now)
        }
        let isLost = try areLost(losses)
        // Blobs are not listed: if a file is gone, blobs may be gone as well.
        if isLost || refills { try access.set("resend", 1) }
        guard try refills || isLost || isCrowded(cover, standing) && isOurTurn() else { return nil }
        let covers = try files(losses)
        // The baseline has what was in them, so they need not come back.
        for file in losses.own { try access.files.setRemoved(file.id, at: now) }
        return covers
    }

    /// Returns whether files are lost for good, so that other devices may never have read them.
    ///
    /// Other devices' files are left to their authors for a while, and to the device with the least id. If
    /// everything is gone, and the container was filled again, there is no wait.
    private func areLost(_ losses: Losses) throws -> Bool {
        if losses.own.contains(where: { !rules.mayBeUnlisted($0, now) }) { return true }
        if losses.isAll, !losses.ids.isEmpty { return true }
        if losses.others.isEmpty {
            try access.forget("missing")
            return false
        }
        guard let since = try access.integer("missing") else {
            try access.set("missing", now)
            return rules.patience == 0
        }
        return try abs(now - since) >= (isLeast() ? rules.patience : 2 * rules.patience)
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

    /// Returns whether this device writes the baseline: it has the least id, or the others have not written one for
    /// long.
    private func isOurTurn() throws -> Bool {
        if try isLeast() { return true }
        guard let since = try access.integer("crowded") else {
            try access.set("crowded", now)
            return rules.deference == 0
        }
        return now - since >= rules.deference
    }

    private func isLeast() throws -> Bool {
        let own = try access.membership.own
        let least = try access.devices.least(heardSince: now - rules.attendance) ?? own
        return own <= least
    }

    /// Returns the data files in the state: those in the container, and those that should be there.
    private func files(_ losses: Losses) throws -> [Digest] {
        try access.forget("crowded")
        try access.forget("missing")
        var ids = Set(try access.files.ownFiles().map(\.id) + losses.ids)
        for (folder, file) in listing.all where folder != .info {
            if let known = try access.files.file(named: file.name) { ids.insert(known.id) }
        }
        return ids.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}
