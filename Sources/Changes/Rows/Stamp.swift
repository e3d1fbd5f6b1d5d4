/// When a cell was written and by whom: a hybrid logical clock's reading, then the device.
///
/// The greater stamp is the later edit, on every device alike.
public struct Stamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970 times 2¹⁶, or a count beyond them; below `HybridClock.limit`.
    public let clock: UInt64
    public let device: DeviceID

    public init(clock: UInt64, device: DeviceID) {
        self.clock = clock
        self.device = device
    }

    /// The stamp of rows that nobody edited: it loses to any edit.
    public static let zero = Stamp(clock: 0, device: .zero)

    /// Whether it is the stamp of rows that nobody edited.
    public var isZero: Bool { clock == 0 && device.isZero }

    public static func < (left: Stamp, right: Stamp) -> Bool {
        left.clock != right.clock ? left.clock < right.clock : left.device < right.device
    }
}
