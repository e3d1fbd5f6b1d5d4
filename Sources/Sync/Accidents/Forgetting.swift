public import Changes
public import Foundation

/// The removal of a device from a group: others no longer wait for it, and may remove its files.
///
/// If the device comes back, it continues under a new id, and loses nothing.
public struct Forgetting {
    private let sidecar: Sidecar

    public init(in sidecar: Sidecar) {
        self.sidecar = sidecar
    }

    /// Records that a device is forgotten; the next exchange reports it to the others.
    ///
    /// - Returns: `false` if it is this device itself, or was forgotten before.
    /// - Throws: `SidecarError`, `FileError`.
    public func forget(_ device: Changes.DeviceID, at date: Date, program: String) throws -> Bool {
        let now = date.milliseconds
        return try sidecar.write { access in
            guard try !access.membership.ownIDs.contains(device), try !access.devices.isGone(device)
            else {
                return false
            }
            let outgoing = Outgoing(
                access,
                outbox: sidecar.outbox,
                clock: try access.membership.clock.last,
                wall: now,
                program: program
            )
            let card = Card(
                access: access,
                outgoing: outgoing,
                rules: UpkeepRules(),
                now: now,
                program: program
            )
            try card.forget(device)
            return true
        }
    }
}
