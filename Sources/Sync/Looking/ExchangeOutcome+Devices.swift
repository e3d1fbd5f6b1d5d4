internal import Changes

extension ExchangeOutcome {
    /// The ids of the devices from which something was taken.
    public var takenDevices: [String] { taken.devices.map(\.description).sorted() }
}
