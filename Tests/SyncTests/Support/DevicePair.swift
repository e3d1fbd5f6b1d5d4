import Foundation
import Remotes
import TestSupport
import Testing

@testable import Sync

/// Two devices whose stores begin alike, and a folder.
struct DevicePair {
    let sandbox: Sandbox
    let desk: Device
    let phone: Device
    let start = Date(timeIntervalSince1970: 1_790_000_000)

    init(schema: String, enforcesReferences: Bool = true) throws {
        let sandbox = try Sandbox()
        let folder = LocalFolder(try sandbox.directory("Container"))
        func device(_ name: String) throws -> Device {
            try Device(
                name,
                in: sandbox,
                folder: folder,
                schema: schema,
                enforcesReferences: enforcesReferences
            )
        }
        self.sandbox = sandbox
        desk = try device("desk")
        phone = try device("phone")
    }

    /// Exchanges, one device after the other, so long after the start.
    func exchange(_ devices: Device..., at minutes: Double) async throws {
        for device in devices { try await device.sync(at: start + minutes * 60) }
    }

    /// Edits both stores, and exchanges until both have all.
    func edit(desk deskSQL: String, phone phoneSQL: String, at minutes: Double) async throws {
        try desk.edit(deskSQL)
        try phone.edit(phoneSQL)
        try await exchange(desk, phone, desk, phone, at: minutes)
    }

    /// Expects rows of both; a failure is reported at the caller's line.
    func expectEqual(
        _ sql: String,
        _ expected: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for device in [desk, phone] {
            let rows = try device.rows(sql)
            #expect(rows == expected, "\(device.name)", sourceLocation: sourceLocation)
        }
    }
}
