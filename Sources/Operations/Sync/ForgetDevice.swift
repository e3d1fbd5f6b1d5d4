internal import Changes
internal import Files
public import Foundation
public import Stores
internal import Sync

/// Forgets a device of a group, so that nobody waits for it any more.
public struct ForgetDevice: Sendable {
    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
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
    public func run(
        _ text: String,
        of store: Store,
        at date: Date,
        program: String
    ) async throws -> String {
        let directory = places.sidecar(of: store)
        return try await context.withLock(on: directory) {
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
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
