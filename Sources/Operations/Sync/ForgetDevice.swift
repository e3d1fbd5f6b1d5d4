internal import Changes
public import Foundation
public import Stores
internal import Sync

/// Forgets a device of a group: nobody waits for it any more.
public struct ForgetDevice: Sendable {
    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
    }

    /// Notes that a device is forgotten; the next exchange tells the others.
    ///
    /// - Parameters:
    ///   - text: its name, what stands for it in lists, or the first digits of its id.
    ///   - store: the store whose group it is in.
    ///   - date: now.
    ///   - program: the program and its version, as files tell it.
    /// - Returns: its name.
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
                $0.title == text || $0.name == text || $0.id.hasPrefix(text)
            }
            // Of two by one name, one that is forgotten is not meant.
            if found.count > 1 { found.removeAll(where: \.isForgotten) }
            guard found.count == 1, let device = found.first, !text.isEmpty,
                let id = Changes.DeviceID(hex: device.id)
            else { throw SyncError.noDevice(text, devices.map(\.title)) }
            _ = try Forgetting(in: sidecar).forget(id, at: date, program: program)
            return device.title
        }
    }
}
