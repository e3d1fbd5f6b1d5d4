internal import Archives
internal import Changes
internal import Foundation
internal import Remotes

// The container, and whether it is ours.
extension StoreExchange {
    /// Devices that began one group at once found two marks within this time, in milliseconds.
    private static let beginning: Int64 = 86_400_000

    /// Lists the container, and adopts the marks of devices that began the group as well.
    ///
    /// - Returns: `nil` if it is not there, or has nothing of our group: then nothing is exchanged.
    /// - Throws: `SyncDecision.otherGroup`, `.otherContainer`; `RemoteError` of the connection.
    func look(_ outcome: inout ExchangeOutcome) async throws -> Container.Listing? {
        let was = try sidecar.read { try $0.text("container") }
        if let was, was != container.address {
            guard joins else { throw SyncDecision.otherContainer(container.address, was: was) }
            try sidecar.write { try $0.set("container", container.address) }
        }
        let listing: Container.Listing
        do {
            listing = try await container.look()
        } catch RemoteError.missing {
            outcome.hasContainer = false
            return nil
        }
        if options.refills { try await refill(listing) }
        guard try await belongs(listing) else {
            outcome.hasContainer = false
            return nil
        }
        return listing
    }

    /// Returns whether the container has a mark of our group, or will have the one that waits.
    private func belongs(_ listing: Container.Listing) async throws -> Bool {
        let (ours, began, waits) = try sidecar.read { access in
            (
                try access.groups, try access.integer("began") ?? 0,
                try access.unpublished().contains { $0.folder.isEmpty }
            )
        }
        var found = waits
        var adopted: [GroupID] = []
        var joined: [GroupID] = []
        for file in listing.marks {
            // What a mark of ours says is known.
            if case .group(container.group, let id)? = ContainerName(file: file.name, in: nil),
                ours.contains(id)
            {
                found = true
                continue
            }
            guard let mark = try await container.mark(file) else { continue }
            let id = mark.content.id
            if ours.contains(id) {
                found = true
                continue
            }
            let made = Int64(mark.content.made.timeIntervalSince1970 * 1000)
            guard
                !mark.content.after.filter(ours.contains).isEmpty
                    || abs(made - began) < Self.beginning
            else {
                guard joins else { throw SyncDecision.otherGroup(container.group.description) }
                joined.append(id)
                continue
            }
            adopted.append(id)
        }
        if !joined.isEmpty {
            // Who has begun again there need not know of us: this device writes as they do.
            try sidecar.write { try $0.setGroups(joined + ours) }
            found = true
        }
        if !adopted.isEmpty {
            try sidecar.write { try $0.setGroups(joined + ours + adopted) }
            found = true
        }
        return found
    }

    /// Goes by the group's newest map; whoever begins to take part was shown it.
    func adoptMap() throws {
        try sidecar.write { access in
            let accepts = try options.acceptsChanges || access.phase == .enabling
            try GroupMap(access: access).adopt(accepts: accepts)
        }
    }

    /// Whether a person has said that this container is to be joined with what is here.
    private var joins: Bool { options.rejoining == .merge || options.refills }

    /// Marks a container that was emptied, or is new, as this group's; the baseline follows.
    private func refill(_ listing: Container.Listing) async throws {
        var others: Set<GroupID> = []
        for file in listing.marks {
            if let mark = try await container.mark(file) { others.insert(mark.content.id) }
        }
        try sidecar.write { access in
            let ours = try access.groups
            guard let group = ours.first, !others.contains(group) else { return }
            let header = DocumentHeader(
                group: group,
                device: try access.own,
                clock: try access.clock.last
            )
            let mark = GroupMark(
                group: container.group,
                id: group,
                made: Date(timeIntervalSince1970: Double(now) / 1000),
                after: others.subtracting(ours).sorted()
            )
            try upkeep(access).keep(
                DocumentFile<GroupMark>.write(header, mark),
                as: .group(container.group, group)
            )
        }
    }
}

extension Container {
    /// Reads a group's mark; `nil` if the file is no mark of this group, or not whole.
    func mark(_ file: RemoteFile) async throws -> DocumentFile<GroupMark>? {
        let mark: DocumentFile<GroupMark>? = try await whole(file, in: nil) {
            try DocumentFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
        return mark?.content.group == group ? mark : nil
    }

    /// Reads a device's card; `nil` if the file is none, or not whole.
    func card(_ file: RemoteFile) async throws -> DocumentFile<DeviceCard>? {
        guard file.size < 2 << 20 else { return nil }
        return try await whole(file, in: .info) {
            try DocumentFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
    }

    /// Reads a map; `nil` if the file is none, or not whole.
    func map(_ file: RemoteFile) async throws -> DocumentFile<SyncMap>? {
        guard file.size < 2 << 20 else { return nil }
        return try await whole(file, in: .info) {
            try DocumentFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
    }

    /// Reads a change file; `nil` if it is none, or not whole.
    func changes(_ file: RemoteFile) async throws -> ChangeFile? {
        try await whole(file, in: .log) {
            try ChangeFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
    }

    /// Reads a file as what it should be, by its bytes and its name; `nil` if it is not, or is gone.
    private func whole<Content>(
        _ file: RemoteFile,
        in folder: Folder?,
        _ parse: ([UInt8], String) throws -> Content
    ) async throws -> Content? {
        do {
            return try parse(await read(file, in: folder?.rawValue), file.name)
        } catch is ChangeError {
            return nil
        } catch RemoteError.noFile {
            return nil
        }
    }
}
