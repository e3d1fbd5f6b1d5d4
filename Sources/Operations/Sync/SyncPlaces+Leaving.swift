internal import Changes
internal import Files
public import Foundation
public import Stores
public import Sync
public import SystemPackage

extension SyncPlaces {
    /// The result of leaving a group.
    public struct Leaving: Sendable {
        /// The store's path below the stores directory.
        public var store: String
        /// The group that it left; `nil` if it had left before, and only its sidecar is removed now.
        public var group: String?
        /// The number of changes that were not sent, also of those that no run has captured.
        public var unsent: Int64
        /// Whether the store has its earlier content again.
        public var isAsBefore: Bool
        /// The copy from before the store took part.
        public var before: FilePath?
        /// The copy of the content that was replaced by the earlier one; `nil` if none was.
        public var yielded: FilePath?
    }

    /// Makes a store leave its group: it stays as it is, or gets its content from before it took part.
    ///
    /// Nothing in the container is removed, and the copy from before stays on this machine.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - asBefore: whether the store gets its earlier content; it must not be open then.
    ///   - confirm: asks the user, who sees what is known of the store.
    /// - Returns: the outcome; `nil` if the user declined.
    /// - Throws: `SyncError`, `StoreError`, `SidecarError`, `FileError`.
    public func leave(
        _ store: Store,
        asBefore: Bool,
        confirm: (SyncOverview) throws -> Bool
    ) async throws -> Leaving? {
        try await withSidecar(of: store) { sidecar in
            var overview = try SyncOverview(of: sidecar)
            let before = try sidecar.copyBefore
            if asBefore {
                guard before != nil else {
                    throw SyncError.nothingBefore(store: store.path.description)
                }
                // A missing file is restored; a file that is no store may be important to someone.
                switch trouble(with: store, in: overview.group) {
                case nil, .storeGone: try refuseIfInUse(store)
                case let trouble?: throw trouble
                }
            }
            overview.unsentChanges = unsentChanges(of: store, sidecar, overview)
            guard try confirm(overview) else { return nil }
            var yielded: FilePath?
            if asBefore {
                try await context.withLock(on: store.directory) {
                    try refuseIfInUse(store)
                    yielded = try keep(store, sidecar)
                    // Leave first: if this run is killed, no later run takes the restored content for edits.
                    try sidecar.leave()
                    try sidecar.putBack(store)
                }
            }
            try sidecar.close()
            try Sidecar.remove(in: self.sidecar(of: store))
            return Leaving(
                store: store.path.description,
                group: overview.group,
                unsent: overview.unsentChanges,
                isAsBefore: asBefore,
                before: before,
                yielded: yielded
            )
        }
    }

    /// Returns the number of changes that were not sent; those captured already, if the store cannot be read.
    private func unsentChanges(
        of store: Store,
        _ sidecar: Sidecar,
        _ overview: SyncOverview
    ) -> Int64 {
        var options = StoreExchange.Options(scratch: context.scratch, program: "")
        options.check = context.checkCancellation
        return (try? sidecar.unsentChanges(of: store, options)) ?? overview.unsentChanges
    }

    /// Keeps a copy of a store that is about to be replaced; `nil` if its file is gone.
    private func keep(_ store: Store, _ sidecar: Sidecar) throws -> FilePath? {
        guard try FileInfo.ifPresent(store.location) != nil else { return nil }
        return try store.withSnapshot(context) {
            try sidecar.keepYielded($0, checkCancellation: context.checkCancellation)
        }
    }

    private func refuseIfInUse(_ store: Store) throws {
        do {
            try Store.refuseIfInUse([store])
        } catch RestoreError.storesInUse(let store, let users) {
            throw SyncError.storeInUse(store: store, by: users)
        }
    }

    /// Records that a device is forgotten; the next exchange reports it to the others.
    ///
    /// - Parameters:
    ///   - text: the device's name, its title in lists, or the first digits of its id.
    ///   - store: the store whose group has the device.
    ///   - date: the current time.
    ///   - program: the program and its version, as files record it.
    /// - Returns: the device's title.
    /// - Throws: `SyncError.noDevice`, `SidecarError`, `FileError`.
    public func forget(
        device text: String,
        of store: Store,
        at date: Date,
        program: String
    ) async throws -> String {
        try await withSidecar(of: store) { sidecar in
            let devices = try SyncOverview(of: sidecar).devices
            var found = devices.filter {
                $0.title.exact == text.exact || $0.name?.exact == text.exact
                    || $0.id.hasPrefix(text)
            }
            // If two devices share the name, skip forgotten ones.
            if found.count > 1 { found.removeAll(where: \.isForgotten) }
            guard found.count == 1, let device = found.first, !text.isEmpty,
                let id = Changes.DeviceID(hex: device.id)
            else { throw SyncError.noDevice(text, devices.map(\.title)) }
            _ = try Forgetting(in: sidecar).forget(id, at: date, program: program)
            return device.title
        }
    }
}
