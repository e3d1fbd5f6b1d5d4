internal import Archives
internal import Changes
internal import Remotes

// The container, and the check whether it is the group's.
extension StoreExchange {
    /// Lists the container, and adopts the marks of devices that began the group as well.
    ///
    /// - Returns: `nil` if the container is missing, or has nothing of our group; in this case nothing is exchanged.
    /// - Throws: `SyncDecision.otherGroup`, `.otherContainer`; `RemoteError` of the connection.
    func look(_ outcome: inout ExchangeOutcome) async throws -> Container.Listing? {
        let was = try sidecar.read { try $0.text("container") }
        func adoptAddress(if isOurs: Bool) throws {
            guard let was, was != container.address else { return }
            // A container that was moved contains our marks.
            guard isOurs || joins else {
                throw SyncDecision.otherContainer(container.address, was: was)
            }
            try sidecar.write { try $0.set("container", container.address) }
        }
        let listing: Container.Listing
        do {
            listing = try await container.look()
        } catch RemoteError.missing {
            try adoptAddress(if: false)
            outcome.hasContainer = false
            return nil
        }
        let marks = try await marks(in: listing)
        let ours = try sidecar.read { try $0.membership.groups }
        try adoptAddress(if: marks.contains { ours.contains($0.id) })
        guard try belongs(marks) else {
            outcome.hasContainer = false
            return nil
        }
        try mark(beside: marks, in: listing)
        return listing
    }
}

extension Container {
    /// Reads a group's mark; `nil` if the file is no mark of this group, or is incomplete.
    func mark(_ file: RemoteFile) async throws -> DocumentFile<GroupMark>? {
        let mark: DocumentFile<GroupMark>? = try await whole(file, in: nil) {
            try DocumentFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
        return mark?.content.group == group ? mark : nil
    }

    /// Reads a device's card; `nil` if the file is none, or is incomplete.
    func readCard(_ file: RemoteFile) async throws -> DocumentFile<DeviceCard>? {
        guard file.size < 2 << 20 else { return nil }
        return try await whole(file, in: .info) {
            try DocumentFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
    }

    /// Reads a map; `nil` if the file is none, or is incomplete.
    func map(_ file: RemoteFile) async throws -> DocumentFile<SyncMap>? {
        guard file.size < 2 << 20 else { return nil }
        return try await whole(file, in: .info) {
            try DocumentFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
    }

    /// Reads a change file; `nil` if the file is none, or is incomplete.
    func changes(_ file: RemoteFile, in folder: Folder = .log) async throws -> ChangeFile? {
        try await whole(file, in: folder) {
            try ChangeFile(reading: $0, name: $1, inflate: RawDeflate.inflate)
        }
    }

    /// Reads and parses a file; `nil` if it is not of the expected kind, is incomplete, or is gone.
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
