import Changes
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport

@testable import Sync

/// Two devices and a folder, to which accidents happen.
final class AccidentScene {
    static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount INTEGER DEFAULT 1,
            list_id INTEGER REFERENCES list(id) ON DELETE CASCADE);
        CREATE TABLE unit (name TEXT PRIMARY KEY, factor REAL, note TEXT);
        """

    let sandbox: Sandbox
    let container: FilePath
    let desk: Device
    let phone: Device
    private(set) var now = Date(timeIntervalSince1970: 1_790_000_000)

    init() throws {
        sandbox = try Sandbox()
        container = try sandbox.directory("Container")
        let folder = LocalFolder(container)
        desk = try Device("desk", in: sandbox, folder: folder, schema: Self.schema)
        phone = try Device("phone", in: sandbox, folder: folder, schema: Self.schema)
        for device in [desk, phone] { device.options.machine = device.name }
    }

    /// Makes another device, which takes part once it is enabled.
    func device(_ name: String) throws -> Device {
        let device = try Device(
            name,
            in: sandbox,
            folder: LocalFolder(container),
            schema: Self.schema
        )
        device.options.machine = name
        return device
    }

    /// Lets time pass.
    func wait(hours: Double) { now += hours * 3600 }

    /// Exchanges, one device after the other, a minute apart.
    @discardableResult
    func exchange(_ devices: Device...) async throws -> ExchangeOutcome {
        var outcome = ExchangeOutcome()
        for device in devices {
            now += 60
            outcome = try await device.sync(at: now)
        }
        return outcome
    }

    func enable(_ device: Device, map: SyncMap = SyncMap()) async throws {
        now += 60
        try await device.enable(at: now, map: map)
    }

    /// Lets both take part with a few rows.
    func begin() async throws {
        try desk.edit(
            """
            INSERT INTO list VALUES (1, 'home');
            INSERT INTO item VALUES (1, 'milk', 2, 1), (2, 'tea', 1, 1);
            INSERT INTO unit VALUES ('kg', 1000, NULL)
            """
        )
        try await enable(desk)
        try await exchange(desk)
        try await enable(phone)
        try await exchange(phone, desk, phone)
    }

    /// What a device knows of its group.
    func overview(of device: Device) throws -> SyncOverview {
        let sidecar = try Sidecar(in: device.sidecarPath)
        defer { try? sidecar.close() }
        return try SyncOverview(of: sidecar)
    }

    func items(_ device: Device) throws -> [String] {
        try device.rows(
            """
            SELECT i.name, i.amount, l.name FROM item i LEFT JOIN list l ON l.id = i.list_id
            ORDER BY 1, 2, 3
            """
        )
    }

    /// The files of a folder of the container.
    func files(_ folder: String) throws -> [String] {
        let path = container.appending("a").appending(folder)
        return try FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
    }

    func remove(_ folder: String, _ name: String) throws {
        try LocalFileSystem()
            .remove(container.appending("a").appending(folder).appending(name))
    }

    /// Removes all that is in the container.
    func empty() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: container.string) {
            try FileManager.default.removeItem(atPath: container.appending(name).string)
        }
    }
}
