internal import Archives
internal import Changes
internal import Files
internal import Remotes

// The joining of many small files of this device into one.
extension StoreExchange {
    /// Joins this device's old change files if there are many: as many as fit into one file.
    func bundle(_ listing: Container.Listing) async throws {
        let names = try sidecar.read { access in
            let cover = Cover(try access.files.standIns())
            let there = Set((listing.files[.log] ?? []).map(\.name))
            return try access.files.ownFiles().filter { file in
                guard let published = file.published, there.contains(file.name) else {
                    return false
                }
                return now - published >= options.upkeep.bundledAge && !cover.has(file.id)
            }.map(\.name)
        }
        guard names.count > options.upkeep.bundledFiles else { return }
        let files = (listing.files[.log] ?? []).filter { names.contains($0.name) }
        try await container.prefetch(files.map { ("log", $0) })
        var bundle = Bundle()
        for file in files {
            try options.check()
            guard let changes = try await container.changes(file) else { continue }
            if bundle.isFull { break }
            try bundle.add(changes)
        }
        guard bundle.replaced.count > 1 else { return }
        try sidecar.write { access in
            let outgoing = try outgoing(access)
            var header = try outgoing.plainHeader()
            header.clock = bundle.clock
            header.seen = bundle.seen
            header.replaces = bundle.replaced
            let file = try bundle.writer().finish(
                header,
                deflate: RawDeflate.deflateForMany
            )
            let name = ContainerName.changes(header, file.id)
            try outgoing.keep(file, as: name)
            try access.files.remember(
                StandIn(
                    id: file.id,
                    name: name.file,
                    parts: [file.id],
                    covers: bundle.replaced,
                    complete: nil
                )
            )
        }
    }
}

/// The join of several change files.
private struct Bundle {
    private(set) var replaced: [Digest] = []
    private(set) var clock: UInt64 = 0
    private var heard: [DeviceID: UInt64] = [:]
    private var rows: [RowID: (table: TableName, delta: RowDelta)] = [:]
    private var bound = 0

    var isFull: Bool {
        rows.count >= ChangeFileWriter.fullRows / 2 || bound >= ChangeFileWriter.fullBytes / 2
    }

    var seen: [SeenClock] { heard.map { SeenClock(device: $0, clock: $1) } }

    mutating func add(_ file: ChangeFile) throws {
        replaced.append(file.id)
        clock = max(clock, file.header.clock)
        for entry in file.header.seen {
            heard[entry.device] = max(heard[entry.device] ?? 0, entry.clock)
        }
        try file.forEachRow { table, delta in
            bound += delta.encodedBound
            guard let other = rows[delta.id] else {
                rows[delta.id] = (table.name, delta)
                return
            }
            // Only a hostile file has one id in two tables; files of our own never do.
            guard other.table == table.name else { return }
            rows[delta.id] = (table.name, other.delta.joined(with: delta))
        }
    }

    func writer() throws -> ChangeFileWriter {
        var writer = ChangeFileWriter()
        for row in rows.values { try writer.add(row.delta, to: row.table) }
        return writer
    }
}
