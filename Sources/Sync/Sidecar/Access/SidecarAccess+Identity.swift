internal import Changes
internal import Foundation
internal import GRDB

// The ids of this device.
extension SidecarAccess {
    /// Returns whether a device is forgotten.
    func isGone(_ device: DeviceID) throws -> Bool {
        try count("SELECT gone FROM device WHERE n = ?", [number(of: device)]) != 0
    }
}
