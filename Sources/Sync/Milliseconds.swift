internal import Foundation

extension Date {
    /// The time in milliseconds since 1970, rounded, as the sidecar and the files have it.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    /// Creates a date from milliseconds since 1970.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
