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
            throw SyncDecision.otherContainer(container.address, was: was)
        }
        let listing: Container.Listing
        do {
            listing = try await container.look()
        } catch RemoteError.missing {
            outcome.hasContainer = false
            return nil
        }
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
        for file in listing.marks {
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
            else { throw SyncDecision.otherGroup(container.group.description) }
            adopted.append(id)
        }
        if !adopted.isEmpty {
            try sidecar.write { try $0.setGroups(ours + adopted) }
            found = true
        }
        return found
    }
}

extension Container {
    /// Reads a group's mark; `nil` if the file is no mark of this group, or not whole.
    func mark(_ file: RemoteFile) async throws -> DocumentFile<GroupMark>? {
        do {
            let mark = try DocumentFile<GroupMark>(
                reading: await read(file, in: nil),
                name: file.name,
                inflate: RawDeflate.inflate
            )
            return mark.content.group == group ? mark : nil
        } catch is ChangeError {
            return nil
        } catch RemoteError.noFile {
            return nil
        }
    }
}

extension Container {
    /// Reads a device's card; `nil` if the file is none, or not whole.
    func card(_ file: RemoteFile) async throws -> DocumentFile<DeviceCard>? {
        guard file.size < 2 << 20 else { return nil }
        do {
            return try DocumentFile<DeviceCard>(
                reading: await read(file, in: Folder.info.rawValue),
                name: file.name,
                inflate: RawDeflate.inflate
            )
        } catch is ChangeError {
            return nil
        } catch RemoteError.noFile {
            return nil
        }
    }
}
