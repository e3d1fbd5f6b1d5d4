import Changes
import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport

@testable import Sync

/// A copy of a store on a machine of its own, which takes part in a group.
final class Device {
    let name: String
    let root: FilePath
    /// Where this device sees the container.
    var folder: any RemoteFolder
    var options: StoreExchange.Options
    /// What its clock is ahead of the real time, in seconds.
    var skew: TimeInterval = 0
    /// When its clock stopped; `nil` if it goes.
    var stopped: Date?
    private(set) var queue: DatabaseQueue
    /// Whether its application has SQLite enforce references.
    let enforcesReferences: Bool

    var stores: FilePath { root.appending("Stores") }
    var storePath: FilePath { stores.appending("a.sqlite") }
    var sidecarPath: FilePath { root.appending("sidecar") }

    /// Makes a device with an empty store of a schema.
    init(
        _ name: String,
        in sandbox: Sandbox,
        folder: any RemoteFolder,
        schema: String,
        enforcesReferences: Bool = true
    ) throws {
        self.name = name
        self.enforcesReferences = enforcesReferences
        self.folder = folder
        root = try sandbox.directory(name)
        let fileSystem = LocalFileSystem()
        try fileSystem.createDirectories(root.appending("Stores"))
        try fileSystem.createDirectories(root.appending("scratch"))
        options = .init(scratch: root.appending("scratch"), program: "test 1")
        options.busyTimeout = .seconds(1)
        options.comparesViews = true
        queue = try Self.open(root.appending("Stores").appending("a.sqlite"), enforcesReferences)
        try edit(schema)
    }

    private static func open(_ path: FilePath, _ enforces: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        // As most applications' connections do.
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.foreignKeysEnabled = enforces
        configuration.busyMode = .timeout(5)
        // Small pages, so that a few rows have several.
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA page_size = 512; PRAGMA journal_mode = WAL")
        }
        return try DatabaseQueue(path: path.string, configuration: configuration)
    }

    // MARK: - The application

    /// Runs SQL as the application does, in one transaction.
    func edit(_ sql: String, _ arguments: StatementArguments = []) throws {
        try queue.write { database in
            if arguments.isEmpty {
                try database.execute(sql: sql)
            } else {
                try database.execute(sql: sql, arguments: arguments)
            }
        }
    }

    /// Returns the rows of a query as texts, `|` between columns.
    func rows(_ sql: String) throws -> [String] {
        try queue.read { database in
            try Row.fetchAll(database, sql: sql).map { row in
                row.databaseValues.map { $0.isNull ? "NULL" : "\($0.storage.value ?? "")" }
                    .joined(separator: "|")
            }
        }
    }

    /// Closes the store, so that it is one file, and opens it again after something was done to it.
    func withClosedStore(_ body: () throws -> Void) throws {
        try queue.close()
        defer { queue = (try? Self.open(storePath, enforcesReferences)) ?? queue }
        try body()
    }

    // MARK: - Sync

    var store: Store {
        get throws {
            Store(
                path: RelativePath(name: "a.sqlite"),
                directory: stores,
                identity: try FileInfo(of: storePath).identity
            )
        }
    }

    func container() -> Container {
        Container(folder, group: GroupName(ofStore: "a"), scratch: root.appending("scratch"))
    }

    /// Publishes a map for the group.
    func publish(_ json: String, at date: Date) throws {
        let sidecar = try Sidecar(in: sidecarPath)
        defer { try? sidecar.close() }
        let map = try SyncMap(json: Array(json.utf8), name: "map")
        try sidecar.publish(map, at: date, program: "test 1")
    }

    /// Takes part from now on.
    func enable(
        at now: Date,
        map: SyncMap = SyncMap(),
        match: JoinMatch? = nil,
        random: () -> UInt64 = { .random(in: 1 ... .max) }
    ) async throws {
        let enrolment = Enrolment(in: container())
        let look = try await enrolment.look()
        let sidecar = try Sidecar(in: sidecarPath)
        try enrolment.enrol(
            sidecar,
            as: name,
            look,
            map: map,
            match: match,
            at: now,
            program: "test 1",
            random: random
        )
        try sidecar.close()
    }

    /// Exchanges once.
    @discardableResult
    func sync(at now: Date) async throws -> ExchangeOutcome {
        let sidecar = try Sidecar(in: sidecarPath)
        defer { try? sidecar.close() }
        return try await StoreExchange(
            of: store,
            sidecar: sidecar,
            container: container(),
            now: stopped ?? now + skew,
            options: options
        ).run()
    }

    /// Reads the sidecar.
    func inspect<Result>(_ body: (SidecarAccess) throws -> Result) throws -> Result {
        let sidecar = try Sidecar(in: sidecarPath)
        defer { try? sidecar.close() }
        return try sidecar.write(body)
    }
}
