internal import Changes
internal import Foundation
internal import GRDB

// The ids of this device.
extension SidecarAccess {
    /// The ids that this device had before.
    var former: [DeviceID] {
        get throws {
            guard let bytes = try bytes("was"), bytes.count % 16 == 0 else { return [] }
            return stride(from: 0, to: bytes.count, by: 16).compactMap {
                DeviceID(bytes: bytes[$0..<$0 + 16])
            }
        }
    }

    /// The ids under which this device writes, or has written.
    var ownIDs: Set<DeviceID> { get throws { try Set(former + [own]) } }

    /// Continues under a new id, because another device may write, or have written, under this one.
    ///
    /// - Parameter now: the current time, in milliseconds since 1970.
    /// - Throws: `SidecarError`.
    func renew(at now: Int64) throws {
        try set("renewed", now)
        let was = try former + [own]
        let device = DeviceID(high: .random(in: 1 ... .max), low: .random(in: .min ... .max))
        try set("was", bytes: was.flatMap(\.bytes))
        try set("device", bytes: device.bytes)
        // No device has received a file under the new id, so its first file reports all received clocks.
        try run("UPDATE device SET told = 0")
        try set("card", nil as Int64?)
    }

    /// Returns whether a device is forgotten.
    func isGone(_ device: DeviceID) throws -> Bool {
        try count("SELECT gone FROM device WHERE n = ?", [number(of: device)]) != 0
    }
}
