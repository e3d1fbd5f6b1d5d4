internal import Archives
internal import Changes
internal import Files
internal import Remotes

/// The intake of others' files into the state: each is verified, joined and recorded in one transaction.
///
/// A file that cannot be read waits, and does not stop the others.
struct Intake {
    /// The time for which an unreadable file is left alone unless its size changes: an hour, in milliseconds.
    static let patience: Int64 = 3_600_000

    let sidecar: Sidecar
    let container: Container
    /// The current time, in milliseconds since 1970.
    let now: Int64
    /// The least number of new rows of a table in a file that are written without a view.
    let leastBulk: Int
    /// A function that returns the writer of this device's files at a clock.
    let outgoing: (SidecarAccess, UInt64?) throws -> Outgoing

    /// The result of an intake.
    struct Taken: Equatable {
        var files = 0
        var bytes: Int64 = 0
        var changes: Int64 = 0
        var devices: Set<DeviceID> = []
        /// The number of files of this device that it did not write: it was cloned, or rolled back.
        var unknownOwn = 0
        /// Whether others have forgotten this device.
        var isForgotten = false
        /// The other groups whose files were found.
        var strangers: Set<GroupID> = []
    }

    /// Takes every file that is not known yet.
    ///
    /// - Throws: `RemoteError` of the connection, `SidecarError`; `CancellationError` between two files. Files taken
    ///   before stay taken.
    func run(
        _ listing: Container.Listing,
        _ check: () throws -> Void,
        _ taken: inout Taken
    ) async throws {
        // Files that a baseline says it covers are read all the same: anybody could say so.
        let order = listing.inReadingOrder
        var failure: RemoteError?
        for (index, (folder, file)) in order.enumerated() {
            try check()
            if try isKnown(file) { continue }
            if container.lacks(file, in: folder.rawValue) {
                // The files that arrived from an interrupted batch are taken.
                if failure != nil { continue }
                do {
                    try await prefetch(order[index...])
                } catch let error as RemoteError {
                    failure = error
                    if container.lacks(file, in: folder.rawValue) { continue }
                }
            }
            try await take(file, in: folder, &taken)
        }
        if let failure { throw failure }
        let names = Set(listing.all.map(\.file.name))
        try sidecar.write { access in
            try access.files.completeStandIns(at: now)
            try access.files.keepWaiting(names)
            // A damaged file whose content is here by another one is nothing to wait for.
            let cover = Cover(try access.files.standIns())
            for var file in try access.files.waiting() where file.kind == .unread {
                guard [.log, .base].contains(where: { cover.id(of: file.name, in: $0) != nil })
                else { continue }
                file.kind = .foreign
                try access.files.wait(for: file)
            }
        }
    }

    /// Returns whether a file was read, or is to be left alone for now.
    private func isKnown(_ file: RemoteFile) throws -> Bool {
        try sidecar.read { access in
            if try access.files.hasSeen(name: file.name, size: file.size) { return true }
            guard let waiting = try access.files.waiting(file.name) else { return false }
            return waiting.size == file.size && now - waiting.tried < Self.patience
                && now >= waiting.tried
        }
    }

    /// Returns whether this device has written a file of this name: it is damaged, or has another's content.
    private func isOwnName(_ file: RemoteFile) throws -> Bool {
        try sidecar.read { try $0.files.file(named: file.name)?.isOwn == true }
    }

    /// Fetches unknown files in one batch.
    private func prefetch(
        _ files: ArraySlice<(folder: Container.Folder, file: RemoteFile)>
    ) async throws {
        let wanted = try files.filter { try !isKnown($0.file) }
        try await container.prefetch(wanted.map { ($0.folder.rawValue, $0.file) })
    }

    private func take(
        _ file: RemoteFile,
        in folder: Container.Folder,
        _ taken: inout Taken
    ) async throws {
        let bytes: [UInt8]
        do {
            bytes = try await container.read(file, in: folder.rawValue)
        } catch let error as ChangeError {
            guard ContainerName.isMeant(by: file.name) else { return try leaveAlone(file) }
            try wait(for: file, error)
            return
        } catch RemoteError.noFile {
            // The file was removed after it was listed.
            return
        } catch let error as FileError where !error.isNoSpace {
            if try isOwnName(file) { return }
            // This says nothing about its content, so the next run tries again.
            let kind = ContainerName.isMeant(by: file.name) ? nil : WaitingFile.Kind.foreign
            try wait(for: file, error, kind, triedAt: 0)
            return
        }
        let isOurs = EnvelopeHead.isOurs(bytes)
        if !isOurs, !ContainerName.isMeant(by: file.name),
            bytes.isEmpty || bytes.contains(where: { $0 != 0 })
        {
            try leaveAlone(file)
            return
        }
        guard isOurs || bytes.allSatisfy({ $0 == 0 }) else {
            // It is another program's file under a name of ours, or one that the folder's own program has not
            // fetched yet.
            try wait(for: file, ChangeError.malformed(file.name, reason: "it is no file of sync"))
            return
        }
        do {
            let envelope = try Envelope(
                reading: bytes,
                name: file.name,
                inflate: RawDeflate.inflate
            )
            try take(envelope, file, &taken)
        } catch let error as ChangeError {
            try wait(for: file, error)
        }
    }

    private func take(_ envelope: Envelope, _ file: RemoteFile, _ taken: inout Taken) throws {
        switch envelope.kind {
        case .changes, .baselinePart:
            let changes = try ChangeFile(envelope, name: file.name)
            try believe(changes.latest, of: file)
            try join(changes, file, &taken)
        case .baselineIndex:
            let index = try BaselineIndex(envelope, name: file.name)
            try believe(index.header.latest, of: file)
            try remember(envelope, index, file, &taken)
        case .card:
            let card = try DocumentFile<DeviceCard>(envelope, name: file.name)
            try believe(max(card.header.clock, card.content.latest), of: file)
            try take(card, file, &taken)
        case .map:
            let map = try DocumentFile<SyncMap>(envelope, name: file.name)
            try believe(map.header.clock, of: file)
            try sidecar.write { access in
                guard try access.membership.groups.contains(map.header.group) else {
                    taken.strangers.insert(map.header.group)
                    return
                }
                try see(map.id, .map, map.header.device, file, access)
                try GroupMap(access: access).take(map)
            }
        case .blob, .group:
            throw ChangeError.otherKind(file.name, kind: envelope.kind)
        }
    }

    /// Refuses a file with a clock that is too far ahead: the clock here would follow it.
    private func believe(_ latest: UInt64, of file: RemoteFile) throws {
        guard latest < HybridClock.horizon(at: now) else {
            throw ChangeError.ahead(file.name, clock: latest)
        }
    }

    /// Leaves another program's file alone, such as those of file managers.
    private func leaveAlone(_ file: RemoteFile) throws {
        let error = ChangeError.malformed(file.name, reason: "it is no file of sync")
        try wait(for: file, error, .foreign)
    }

    private func wait(
        for file: RemoteFile,
        _ error: any ExplainedError,
        _ kind: WaitingFile.Kind? = nil,
        triedAt tried: Int64? = nil
    ) throws {
        let isNewer = (error as? ChangeError)?.isOfVersion == true
        // If a file of this device is damaged, its content is here.
        let kind = try kind ?? (isNewer ? .newer : isOwnName(file) ? .foreign : .unread)
        try sidecar.write { access in
            try access.files.wait(
                for: WaitingFile(
                    name: file.name,
                    size: file.size,
                    since: access.files.waiting(file.name)?.since ?? now,
                    tried: tried ?? now,
                    reason: explain(error),
                    kind: kind
                )
            )
        }
    }

    private func see(
        _ id: Digest,
        _ kind: FileKind,
        _ device: DeviceID,
        _ file: RemoteFile,
        _ access: SidecarAccess,
        sequence: UInt64 = 0,
        clock: UInt64 = 0,
        heard: UInt64 = 0
    ) throws {
        let files = access.files
        if try files.hasSeen(id) { return try files.nameCopy(name: file.name, size: file.size) }
        let seen = SeenFile(
            id: id,
            name: file.name,
            size: file.size,
            kind: kind,
            device: device,
            sequence: sequence,
            clock: clock,
            heard: heard
        )
        try files.see(seen, at: now)
    }

    private func take(
        _ card: DocumentFile<DeviceCard>,
        _ file: RemoteFile,
        _ taken: inout Taken
    ) throws {
        try sidecar.write { access in
            guard try access.membership.groups.contains(card.header.group) else {
                taken.strangers.insert(card.header.group)
                return
            }
            let own = try access.membership.own
            let heard = card.content.seen.first { $0.device == own }?.clock ?? 0
            try see(
                card.id,
                .card,
                card.header.device,
                file,
                access,
                clock: card.header.clock,
                heard: heard
            )
            if try card.header.device != access.membership.own, card.content.gone == nil {
                try access.devices.setName(card.content.name, of: card.header.device)
            }
            if card.content.gone == nil {
                try access.devices.setFormer(card.content.was, of: card.header.device)
            }
            guard let gone = card.content.gone else { return }
            try access.devices.setGone(gone)
            if try gone == access.membership.own { taken.isForgotten = true }
        }
    }

    private func remember(
        _ envelope: Envelope,
        _ index: BaselineIndex,
        _ file: RemoteFile,
        _ taken: inout Taken
    ) throws {
        try sidecar.write { access in
            guard try access.membership.groups.contains(index.header.group) else {
                taken.strangers.insert(index.header.group)
                return
            }
            if try access.files.owns(envelope.id) || access.files.hasSeen(envelope.id) {
                return try access.files.nameCopy(name: file.name, size: file.size)
            }
            try see(
                envelope.id,
                envelope.kind,
                index.header.device,
                file,
                access,
                sequence: index.header.sequence
            )
            try access.files.remember(
                StandIn(
                    id: envelope.id,
                    name: file.name,
                    parts: index.parts,
                    covers: index.covers,
                    complete: nil
                )
            )
        }
    }

    // MARK: - Joining

    private func join(_ file: ChangeFile, _ remote: RemoteFile, _ taken: inout Taken) throws {
        try sidecar.write { access in
            let header = file.header
            guard try access.membership.groups.contains(header.group) else {
                taken.strangers.insert(header.group)
                return
            }
            let own = try access.membership.own
            let ids = try access.membership.ownIDs
            let isKnown = try access.files.hasSeen(file.id) || access.files.owns(file.id)
            if isKnown {
                // It is a copy under another name.
                try access.files.nameCopy(name: remote.name, size: remote.size)
                return
            }
            try access.files.see(SeenFile(file, remote, readBy: own), at: now)
            try access.devices.hear(header.device, wall: header.wall, at: now)
            if header.device == own { taken.unknownOwn += 1 }
            var clock = try access.membership.clock
            clock.observe(header.clock)
            try access.devices.listen(to: header, as: ids)
            var bulk = BulkIntake(least: leastBulk, access)
            var reunions: [Reunion] = []
            try file.forEachRow { table, delta in
                for cell in delta.state.cells { clock.observe(cell.stamp.clock) }
                clock.observe(delta.state.deletion.clock)
                try listRename(delta, in: table.name, ids, access)
                guard let joined = try access.states.join(delta, in: table.name) else { return }
                taken.changes += 1
                guard let old = joined.old else { return try bulk.take(joined.new) }
                try access.dirty.mark(delta.id)
                try list(old, joined.new, ids, access)
                if let reunion = try Reunion(of: old, joined.new, ids, access) {
                    reunions.append(reunion)
                }
            }
            try bulk.finish()
            try send(reunions, own, &clock, access)
            try access.membership.setClock(clock)
            try rememberBundle(file, remote, access)
            taken.files += 1
            taken.bytes += remote.size
            taken.devices.insert(header.device)
        }
    }

    private func send(
        _ reunions: [Reunion],
        _ own: DeviceID,
        _ clock: inout HybridClock,
        _ access: SidecarAccess
    ) throws {
        if reunions.isEmpty { return }
        let stamp = Stamp(clock: clock.tick(now: now, modified: now), device: own)
        let outgoing = try outgoing(access, stamp.clock)
        for reunion in reunions { try reunion.send(at: stamp, outgoing, access) }
        try outgoing.finish()
    }

    /// Records that a bundle replaces the files that it was made of.
    private func rememberBundle(
        _ file: ChangeFile,
        _ remote: RemoteFile,
        _ access: SidecarAccess
    ) throws {
        guard !file.header.replaces.isEmpty else { return }
        try access.files.remember(
            StandIn(
                id: file.id,
                name: remote.name,
                parts: [file.id],
                covers: file.header.replaces,
                complete: now
            )
        )
    }

    /// Lists this device's edits that lost to values whose authors had not received them.
    private func list(
        _ old: KnownRow,
        _ new: KnownRow,
        _ own: Set<DeviceID>,
        _ access: SidecarAccess
    ) throws {
        let birth = old.state.birth.flatMap { own.contains($0.device) ? $0 : nil }
        for lost in old.state.cells where lost.stamp.isZero || own.contains(lost.stamp.device) {
            let isSeed = lost.stamp.isZero
            if new.state.causalLength != old.state.causalLength {
                let winner = new.state.isAlive ? new.state.birth ?? .zero : new.state.deletion
                // The device that recreated the row may have received the edit while the row was deleted, and so not
                // shown it.
                let isDirect = new.state.causalLength == old.state.causalLength + 1
                guard !isSeed, try !isDirect || !hasHeard(lost.stamp, winner, access) else {
                    continue
                }
                let kind: Conflict.Kind = new.state.isAlive ? .inserted : .deleted
                if kind == .deleted {
                    try access.removed.keep(
                        old.state.cells.map { ($0.column, $0.value) },
                        of: old.id
                    )
                }
                try access.removed.add(
                    Conflict(kind, lost, of: new, lost: lost, by: lost.stamp.device)
                )
                continue
            }
            guard let won = new.state.cell(lost.column), won != lost, !won.value.means(lost.value)
            else { continue }
            // Of one time and author, a type made 5.0 of 5.
            if won.stamp == lost.stamp, let value = won.value.stored?.asNumber,
                value == lost.value.stored?.asNumber
            {
                continue
            }
            // A seed loses to any edit, so only differences between two seeds are listed.
            if isSeed, !won.stamp.isZero { continue }
            // A row that got its key here has older cells, which the author may have received at the former key.
            let latest = birth.map { max($0, lost.stamp) } ?? lost.stamp
            guard try isSeed || !hasHeard(latest, won.stamp, access) else { continue }
            try access.removed.add(Conflict(isSeed ? .seed : .edited, lost, of: new, winner: won))
        }
    }

    /// Lists this device's delete of a row that another device has given another key, and that stays by it.
    private func listRename(
        _ delta: RowDelta,
        in table: TableName,
        _ own: Set<DeviceID>,
        _ access: SidecarAccess
    ) throws {
        guard let same = delta.state.cell(.same), case .row(let other) = same.value,
            let deleted = try access.states.known(delta.id)?.state, deleted.isTombstone,
            deleted.causalLength > delta.state.causalLength,
            own.contains(deleted.deletion.device), try !access.shadow.has(other),
            try !hasHeard(deleted.deletion, same.stamp, access)
        else { return }
        var conflict = Conflict(.renamed, table, other, by: same.stamp.device)
        conflict.lostBy = deleted.deletion.device
        conflict.isConflict = true
        try access.removed.add(conflict)
    }

    /// Returns whether the author of the winner had received the value that lost, as far as it is known.
    private func hasHeard(
        _ lost: Stamp,
        _ winner: Stamp,
        _ access: SidecarAccess
    ) throws -> Bool {
        try lost.clock <= access.devices.heard(lost.device, by: winner)
    }
}

extension Intake {
    /// Creates the intake of an exchange.
    init(of exchange: StoreExchange) {
        self.init(
            sidecar: exchange.sidecar,
            container: exchange.container,
            now: exchange.now,
            leastBulk: exchange.options.leastBulk,
            outgoing: exchange.outgoing
        )
    }
}

extension SeenFile {
    fileprivate init(_ file: ChangeFile, _ remote: RemoteFile, readBy own: DeviceID) {
        self.init(
            id: file.id,
            name: remote.name,
            size: remote.size,
            kind: file.kind,
            device: file.header.device,
            sequence: file.header.sequence,
            clock: file.header.clock,
            heard: file.header.seen.first { $0.device == own }?.clock ?? 0
        )
    }
}
