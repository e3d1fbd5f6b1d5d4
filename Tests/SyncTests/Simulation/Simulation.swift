import Changes
import Files
import Foundation
import GRDB
import Remotes
import SystemPackage
import TestSupport

@testable import Sync

/// The devices whose application has edited since a capture surely ended.
private final class Edited: @unchecked Sendable {
    var devices: Set<Int> = []
}

/// Random bytes for the ids of rows.
private final class Ids: @unchecked Sendable {
    var random: Pseudorandom

    init(seed: UInt64) { random = Pseudorandom(seed: seed) }
}

/// The end that a test gives to a run.
struct Killed: Error {}

/// One random history of a few devices that share a store, from a seed.
final class Simulation {
    let seed: UInt64
    let schema: SimulatedSchema
    private(set) var devices: [Device]
    let ledger: FilePath
    /// Devices that had an accident.
    var forgetful: Set<String> = []
    let accidents: [Accident]
    /// Whether the container has lost all that was in it.
    var wasEmptied = false
    /// For how many of its turns a device is away.
    var absences: [Int: Int] = [:]
    private(set) var breaches: [String] = []
    private let sandbox: Sandbox
    let container: FilePath
    var random: Pseudorandom
    /// Disks as they were.
    var disks: [Int: SavedDisk] = [:]
    /// Long ago: a file's own time is never before it.
    private(set) var now = Date(timeIntervalSince1970: 1_500_000_000)
    private var sights: [FaultyContainer.Sight] = []
    private let edited = Edited()
    private var enabled: Set<Int> = []
    private var upgraded: Set<Int> = []
    /// Devices that write baselines and bundles at any time.
    private var busy: Set<Int> = []
    /// What happened, for whom a breach surprises.
    private(set) var trace: [String] = []

    private static let texts = ["milk", "Milk", "tea", "", "a\u{0}b", "ü", "bread ", "x"]

    init(seed: UInt64, in sandbox: Sandbox) throws {
        self.sandbox = sandbox
        self.seed = seed
        random = Pseudorandom(seed: seed)
        // Seeds that failed once keep their schemas.
        let chance = Int(random.next() % UInt64(SimulatedSchema.all.count))
        schema =
            SimulatedSchema.chosen.first
            ?? [3: .keys, 4: .loose, 8: .named][seed % 9] ?? SimulatedSchema.all[chance]
        container = try sandbox.directory("Container")
        ledger = try sandbox.directory("Ledger")
        let kinds = Accident.allCases.shuffled(using: &random)
        accidents = Array(kinds.prefix(random.next() % 3 == 0 ? 2 : 1))
        devices = []
        let count = 2 + Int(random.next() % 3)
        for _ in 0..<count { try addDevice() }
    }

    /// Makes a device with a sight of its own.
    @discardableResult
    func addDevice() throws -> Int {
        let name = "d\(devices.count)"
        let sight = FaultyContainer.Sight(seed: random.next())
        sights.append(sight)
        let folder = FaultyContainer(
            real: LocalFolder(container),
            sight: sight,
            scratch: try sandbox.directory("\(name)-cut"),
            ledger: ledger
        )
        let device = try Device(
            name,
            in: sandbox,
            folder: folder,
            schema: schema.sql,
            enforcesReferences: schema.enforcesReferences
        )
        device.skew = Double(Int(random.next() % 5500)) - 500
        // All look after their long values more often than others remove idle ones, as by the rules of all.
        device.options.upkeep.blobRound = UpkeepRules.busyBlobRound
        let ids = Ids(seed: random.next())
        device.options.random = {
            (ids.random.next(), UInt32(truncatingIfNeeded: ids.random.next()))
        }
        device.options.machine = name
        // What is written by parts ends as what is written at once.
        if seed % 4 == 3 { device.options.mostRows = 4 }
        // New rows of others are written with or without a view.
        if seed % 2 == 0 { device.options.leastBulk = 1 }
        if random.next() % 2 == 0 { busy.insert(devices.count) }
        devices.append(device)
        return devices.count - 1
    }

    /// Runs a history, then lets all faults end, and holds the devices to the oracles.
    func run(steps: Int = 40) async throws {
        try addDefaults()
        for index in devices.indices where index == 0 || random.next() % 3 != 0 {
            try await enable(index)
        }
        for _ in 0..<steps {
            pass(Double(random.next() % 600))
            let index = Int(random.next() % UInt64(devices.count))
            switch random.next() % 12 {
            case 10: try suffer(index)
            case 11:
                switch random.next() % 4 {
                case 0: disturbClock(index)
                case 1: leave(index)
                default: upgrade(index)
                }
            case 0..<6: edit(index, 1 + Int(random.next() % 4))
            case 6 where !enabled.contains(index): try await enable(index)
            default: try await sync(index)
            }
        }
        for index in devices.indices where !enabled.contains(index) { try await enable(index) }
        for index in devices.indices { upgrade(index) }
        try await settle()
        try await Oracles(self, container).check()
    }

    /// Lets time pass, in seconds.
    func pass(_ seconds: Double) { now += seconds }

    func fail(_ breach: String) {
        trace.append("! \(breach)")
        breaches.append(breach)
    }

    // MARK: - Steps

    /// The default rows of an application, on most devices.
    private func addDefaults() throws {
        var rows = random
        for device in devices where random.next() % 5 != 0 {
            var copy = rows
            for _ in 0..<6 { try? device.edit(statement(device, &copy)) }
        }
        _ = rows.next()
    }

    private func enable(_ index: Int) async throws {
        trace.append("enable \(index)")
        try await devices[index].enable(
            at: now,
            map: SyncMap(json: Array(schema.map.utf8), name: "map"),
            random: { [self] in random.next() }
        )
        enabled.insert(index)
        edited.devices.insert(index)
        try await sync(index)
    }

    /// Gives a device the next version of the application.
    private func upgrade(_ index: Int) {
        guard upgraded.insert(index).inserted else { return }
        trace.append("upgrade \(index)")
        for sql in schema.upgrade {
            do {
                try devices[index].edit(sql)
                edited.devices.insert(index)
            } catch {
                // A clone, or a disk that was put back, has it.
                trace.append("\(index): no, \(error)")
            }
        }
    }

    /// Lets a device take part that is another's clone.
    func join(_ index: Int) {
        enabled.insert(index)
        edited.devices.insert(index)
    }

    func isEnabled(_ index: Int) -> Bool { enabled.contains(index) }

    func note(_ text: String) { trace.append(text) }

    /// After an accident an edit may be captured that was made before.
    func doubt(_ index: Int) {
        edited.devices.insert(index)
        upgraded.remove(index)
    }

    private func edit(_ index: Int, _ count: Int) {
        for _ in 0..<count {
            let sql = statement(devices[index], &random)
            trace.append("\(index): \(sql)")
            do {
                try devices[index].edit(sql)
                edited.devices.insert(index)
            } catch {
                // A constraint: the application does without.
                trace.append("\(index): no, \(error)")
            }
        }
    }

    /// Exchanges, and is killed at some step at times.
    private func sync(_ index: Int) async throws {
        guard enabled.contains(index), !isAbsent(index) else { return }
        let device = devices[index]
        if busy.contains(index) { device.options.upkeep = .busy(&random) }
        let wasEdited = edited.devices.contains(index)
        // What the pages have shown must be what all rows show.
        if !wasEdited, random.next() % 4 == 0 { try device.inspect { try $0.shadow.forgetLooks() } }
        let kill =
            random.next() % 7 == 0
            ? StoreExchange.Step.allCases[
                Int(random.next() % UInt64(StoreExchange.Step.allCases.count))
            ]
            : nil
        trace.append("sync \(index)\(kill.map { ", killed after \($0)" } ?? "")")
        device.options.passed = { [edited] step in
            if step == .captured { edited.devices.remove(index) }
            if step == kill { throw Killed() }
        }
        do {
            let before = try ownFiles(device)
            let watch = try StoreWatch(device, isEdited: wasEdited)
            let outcome = try await device.sync(at: now)
            trace.append(
                "  \(outcome.takenChanges) in, \(outcome.inserted) + \(outcome.updated) ± \(outcome.deleted) -"
            )
            if !wasEdited, try ownFiles(device) != before {
                fail("device \(index) told of edits that nobody made")
            }
            if let fault = try watch.fault(device, outcome) {
                fail("the store of \(index) \(fault)")
            }
            device.options.refills = false
        } catch is Killed {
            if random.next() % 2 == 0 { edit(index, 1) }
        } catch let error as SyncDecision {
            trace.append("  \(error)")
            try await answer(index, error)
            device.options.refills = false
        }
    }

    private func ownFiles(_ device: Device) throws -> Int64 {
        try device.inspect {
            try $0.count("SELECT count(*) FROM mine WHERE folder = 'log' AND changes > 0")
        }
    }

    /// Lets everything arrive, until nobody has anything to say.
    private func settle() async throws {
        for sight in sights { sight.isFaulty = false }
        for device in devices {
            device.stopped = nil
            device.options.passed = { _ in }
            device.options.acceptsChanges = true
            // What the container has lost, another accident may have taken from the one who sent it: then
            // people have all devices send what they know.
            if accidents.count > 1, accidents.contains(.container) { device.options.refills = true }
        }
        for round in 0..<12 {
            pass(7200)
            let (isQuiet, _) = try await exchangeAll("settle")
            if isQuiet { return try await rest() }
            if round == 11 { fail("the devices never end to exchange") }
        }
    }

    /// Exchanges once more, after all rows were looked at: nobody says anything.
    private func rest() async throws {
        pass(60)
        for device in devices { try device.inspect { try $0.shadow.forgetLooks() } }
        let (_, sent) = try await exchangeAll("rest")
        if sent > 0 { fail("\(sent) changes were sent without an edit") }
    }

    private func exchangeAll(_ what: String) async throws -> (isQuiet: Bool, sent: Int64) {
        var isQuiet = true
        var sent: Int64 = 0
        for (index, device) in devices.enumerated() {
            trace.append("\(what) \(index)")
            do {
                let outcome = try await device.sync(at: now)
                if !outcome.isQuiet { isQuiet = false }
                // Baselines and bundles are no edits: some are due now.
                sent += outcome.sentChanges
                device.options.refills = false
            } catch let error as SyncDecision {
                trace.append("  \(error)")
                try await answer(index, error)
                isQuiet = false
            }
        }
        return (isQuiet, sent)
    }

    // MARK: - Statements

    private func statement(_ device: Device, _ random: inout Pseudorandom) -> String {
        let edits = schema.edits + schema.laterEdits
        var sql = edits[Int(random.next() % UInt64(edits.count))]
        while let match = sql.firstMatch(of: /\?(r\((\w+)\)|n|t|f)/) {
            let value: String
            if let table = match.output.2 {
                let skip = random.next() % 8
                let keys = (try? device.rows("SELECT rowid FROM \(table) ORDER BY rowid")) ?? []
                value = keys.isEmpty ? "NULL" : keys[Int(skip) % keys.count]
            } else if match.output.1 == "f" {
                value = device.addFile(random.next(), random.next())
            } else if match.output.1 == "n" {
                value = String(random.next() % 6)
            } else {
                let text = Self.texts[Int(random.next() % UInt64(Self.texts.count))]
                value =
                    text.contains("\u{0}")
                    ? "CAST(x'610062' AS TEXT)" : "'\(text)'"
            }
            sql.replaceSubrange(match.range, with: value)
        }
        return sql
    }
}
