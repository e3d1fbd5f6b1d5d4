internal import Changes
internal import Foundation
internal import GRDB

/// The writer of this device's card, and of cards about forgotten devices.
struct Card {
    let access: SidecarAccess
    let outgoing: Outgoing
    let rules: UpkeepRules
    /// The current time, in milliseconds since 1970.
    let now: Int64
    let program: String

    /// Writes this device's card, if it is new and none was written today, or at once.
    func introduce(atOnce: Bool) throws {
        let card = try content(gone: nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(card), as: UTF8.self)
        guard try access.text("card") != text else { return }
        let isDue = try access.integer("carded").map { now - $0 >= rules.cardAge } ?? true
        guard try atOnce || isDue || access.text("card") == nil else { return }
        try access.set("card", text)
        try access.set("carded", now)
        try keep(card)
    }

    /// Writes that a device is forgotten: others no longer wait for it, and may remove its files.
    func forget(_ device: DeviceID) throws {
        try access.devices.setGone(device)
        try keep(content(gone: device))
    }

    private func content(gone: DeviceID?) throws -> DeviceCard {
        let own = try access.membership.ownIDs
        return DeviceCard(
            name: try access.text("name") ?? "",
            program: program,
            schema: try access.bytes("schema").flatMap { SchemaID(bytes: $0) } ?? .zero,
            seen: try access.devices.heardClocks().filter { !own.contains($0.device) },
            was: try access.membership.former,
            gone: gone
        )
    }

    private func keep(_ card: DeviceCard) throws {
        var clock = try access.membership.clock
        // The card must be later than the card before, whatever the time is.
        let reading = clock.tick(now: 0, modified: 0)
        try access.membership.setClock(clock)
        let header = DocumentHeader(
            group: try access.membership.groups.first ?? .zero,
            device: try access.membership.own,
            clock: reading
        )
        let file = try DocumentFile<DeviceCard>.write(header, card)
        try outgoing.keep(file, as: .card(header, file.id))
    }
}
