internal import Archives
internal import Changes
internal import Files
internal import GRDB
internal import Remotes
internal import Stores

// The check whether this device is a clone, or on a disk that was rolled back.
extension StoreExchange {
    /// The findings about this device, before anything is captured.
    struct Identity {
        /// Whether the sidecar is another file: a copy.
        ///
        /// Another machine says nothing: a home may be on two, and a container has another id at each start.
        var isMoved = false
        /// Whether the container has files of this device that the sidecar does not know.
        var isRolledBack = false
        /// Whether the store was moved along with the sidecar.
        var hasMovedStore = false

        /// The doubt whether the sidecar is older than the store; `nil` if both are of one moment.
        ///
        /// A sidecar may be put back before this device has sent a file again.
        var doubt: CaptureMeaning.Doubt? {
            guard !hasMovedStore else { return nil }
            return isRolledBack ? .rolledBack : isMoved ? .moved : nil
        }
    }

    /// Checks whether this device is a clone, or was rolled back; in both cases it continues under a new id.
    ///
    /// - Returns: `nil` if that is unknown without the container; in this case nothing is captured.
    func identify(_ listing: Container.Listing?) async throws -> Identity? {
        let place = "\(options.machine) \(try FileInfo(of: sidecar.path).identity.inode)"
        let storePlace = try StorePlace(of: store)
        let (was, storeWas) = try sidecar.read { (try $0.text("place"), try $0.storePlace) }
        var identity = Identity()
        identity.isMoved = was.map { $0.inode != place.inode } ?? false
        let isSameStore = storeWas.map { storePlace.isSame(as: $0) } ?? false
        identity.hasMovedStore =
            identity.isMoved
            && (!isSameStore || was?.machine != options.machine)
        guard let listing else {
            if identity.isMoved { return nil }
            try sidecar.write { try $0.set("place", place) }
            return identity
        }
        identity.isRolledBack = try await hasUnknownFiles(listing)
        try sidecar.write { access in
            try access.set("place", place)
            if identity.isMoved || identity.isRolledBack { try access.membership.renew(at: now) }
            if let doubt = identity.doubt { try access.set("rolled", doubt.rawValue) }
            if identity.hasMovedStore { try access.set("store", "\(storePlace)") }
        }
        return identity
    }

    /// Returns whether there are files with this device's id that it did not write, as far as it knows.
    ///
    /// Names select the candidates, and the files' headers name their devices.
    private func hasUnknownFiles(_ listing: Container.Listing) async throws -> Bool {
        let (own, suspects) = try sidecar.read { access in
            let own = try access.membership.own
            let suspects = try listing.all.filter { folder, file in
                let name = ContainerName(file: file.name, in: folder.rawValue)
                guard name?.author == own.short else { return false }
                return try !access.files.owns(name: file.name)
                    && !access.files.hasSeen(name: file.name, size: file.size)
            }
            return (own, suspects)
        }
        for (folder, file) in suspects {
            guard let found = try await container.author(of: file, in: folder), found.device == own
            else { continue }
            // A file that this device wrote and that was copied under another name is no accident.
            if try !sidecar.read({ try $0.files.owns(found.id) || $0.files.hasSeen(found.id) }) {
                return true
            }
        }
        return false
    }
}

extension String {
    /// The machine in a sidecar's place.
    fileprivate var machine: String { String(prefix { $0 != " " }) }

    /// The inode in a sidecar's place.
    fileprivate var inode: Substring { drop { $0 != " " } }
}

extension ContainerName {
    /// The first digits of the id of the device that wrote a data file or a card.
    fileprivate var author: UInt32? {
        switch self {
        case .changes(let device, _, _), .part(_, let device, _), .baseline(_, let device, _):
            device
        case .card(let device, _, _): device.short
        case .group, .map, .blob: nil
        }
    }
}

extension Container {
    /// Returns the identity of a data file or a card and the device that wrote it; `nil` if the file is incomplete.
    fileprivate func author(
        of file: RemoteFile,
        in folder: Folder
    ) async throws -> (id: Digest, device: DeviceID)? {
        do {
            let bytes = try await read(file, in: folder.rawValue)
            let envelope = try Envelope(
                reading: bytes,
                name: file.name,
                inflate: RawDeflate.inflate
            )
            let device =
                switch envelope.kind {
                case .baselineIndex: try BaselineIndex(envelope, name: file.name).header.device
                case .card: try DocumentFile<DeviceCard>(envelope, name: file.name).header.device
                default: try ChangeFile(envelope, name: file.name).header.device
                }
            return (envelope.id, device)
        } catch is ChangeError {
            return nil
        } catch RemoteError.noFile {
            return nil
        }
    }
}
