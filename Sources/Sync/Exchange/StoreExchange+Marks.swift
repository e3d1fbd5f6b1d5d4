internal import Changes
internal import Foundation
internal import Remotes

// A group's identity is the set of ids in its marks: devices that begin at the same time create several.
extension StoreExchange {
    /// A mark in the container, which names an id of the group.
    struct Mark {
        var id: GroupID
        /// The time of its creation, in milliseconds since 1970.
        var made: Int64
        /// The other ids of the group that its author knew.
        var after: Set<GroupID>
    }

    /// The time around this device's beginning in which another beginning is of the same group, in milliseconds: a
    /// day.
    private static let beginning: Int64 = 86_400_000

    /// Reads the container's marks, unless their names show that all of them are ours.
    func marks(in listing: Container.Listing) async throws -> [Mark] {
        let ours = try sidecar.read { try $0.membership.groups }
        let names = listing.marks.map { file -> GroupID? in
            guard case .group(container.group, let id)? = ContainerName(file: file.name, in: nil)
            else { return nil }
            return id
        }
        if names.allSatisfy({ $0.map(ours.contains) ?? false }) {
            return names.compactMap(\.self).map { Mark(id: $0, made: 0, after: []) }
        }
        var marks: [Mark] = []
        for file in listing.marks {
            guard let content = try await container.mark(file)?.content else { continue }
            marks.append(
                Mark(
                    id: content.id,
                    made: Int64(content.made.timeIntervalSince1970 * 1000),
                    after: Set(content.after)
                )
            )
        }
        return marks
    }

    /// Returns whether the container has a mark of our group, or is to get one.
    ///
    /// It records the ids of the group.
    ///
    /// - Throws: `SyncDecision.otherGroup` if there is a mark of another group, and nobody said to join it.
    func belongs(_ marks: [Mark]) throws -> Bool {
        let (ours, began, waits) = try sidecar.read { access in
            (
                try access.membership.groups, try access.integer("began") ?? 0,
                try access.files.unpublished().contains { $0.folder.isEmpty }
            )
        }
        var known = Set(ours)
        var strange = marks.filter { !known.contains($0.id) }
        var adopted: [GroupID] = []
        while let index = strange.firstIndex(where: { mark in
            !mark.after.isDisjoint(with: known) || abs(mark.made - began) < Self.beginning
                || marks.contains { known.contains($0.id) && $0.after.contains(mark.id) }
        }) {
            let id = strange.remove(at: index).id
            if known.insert(id).inserted { adopted.append(id) }
        }
        guard strange.isEmpty || joins else {
            throw SyncDecision.otherGroup(container.group.description)
        }
        // Devices that have begun again there may not know this one, so it writes under their id.
        let joined = Set(strange.map(\.id)).sorted()
        if !joined.isEmpty || !adopted.isEmpty {
            try sidecar.write { try $0.membership.setGroups(joined + ours + adopted) }
        }
        return waits || options.refills || !marks.isEmpty
    }

    /// Whether a person has said to join this container with the local data.
    var joins: Bool { options.rejoining == .merge || options.refills }

    /// Marks the container with the id under which this device writes, if others began there.
    ///
    /// If the container is to be filled again, it marks it with every id of the group. A device that knows one of
    /// the ids learns the others.
    func mark(beside marks: [Mark], in listing: Container.Listing) throws {
        if options.isDryRun { return }
        try sidecar.write { access in
            let ours = try access.membership.groups
            let damage = try OwnDamage(in: listing, access, rules, now: now)
            let lost = Set(damage.missing.filter(\.folder.isEmpty).map(\.name))
            let isLost = { lost.contains(ContainerName.group(container.group, $0).file) }
            let there = Set(marks.map(\.id)).filter { !isLost($0) }
            let waiting = Set(try access.files.unpublished().filter(\.folder.isEmpty).map(\.name))
            for group in ours where options.refills || group == ours.first || isLost(group) {
                if there.contains(group) { continue }
                let name = ContainerName.group(container.group, group)
                let others = there.union(ours).subtracting([group])
                if waiting.contains(name.file) {
                    // It was written before the other ids were known.
                    if others.isEmpty { continue }
                }
                try access.files.withdraw(name.file)
                let header = DocumentHeader(
                    group: group,
                    device: try access.membership.own,
                    clock: try access.membership.clock.last
                )
                let mark = GroupMark(
                    group: container.group,
                    id: group,
                    made: Date(timeIntervalSince1970: Double(now) / 1000),
                    after: others.sorted()
                )
                try outgoing(access).keep(DocumentFile<GroupMark>.write(header, mark), as: name)
            }
        }
    }
}
