import Archives
import Changes
import Files
import Foundation
import Remotes
import SystemPackage
import Testing

@testable import Sync

@Suite("A container with hostile or damaged files")
struct HostileContainerTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }
    private let stranger = DeviceID(high: .max, low: 7)

    private func path(_ name: ContainerName) -> FilePath {
        let group = scene.container.appending("a")
        return (name.folder.map { group.appending($0) } ?? scene.container).appending(name.file)
    }

    private func put(_ bytes: [UInt8], _ name: ContainerName) throws {
        let path = path(name)
        try LocalFileSystem().createDirectories(path.removingLastComponent())
        try LocalFileSystem().write(bytes, to: path)
    }

    private func header(_ clock: UInt64, seen: [SeenClock] = []) throws -> ChangeHeader {
        ChangeHeader(
            group: try desk.inspect { try #require($0.membership.groups.first) },
            device: stranger,
            clock: clock,
            wall: 0,
            sequence: 1,
            program: "other",
            seen: seen
        )
    }

    /// Puts a change file of a stranger into the container that adds a unit.
    private func send(_ unit: String, stamp: UInt64, header: ChangeHeader) throws -> String {
        let stamp = Stamp(clock: stamp, device: stranger)
        let id = RowID(high: .max, low: stamp.clock)
        let cells = [
            Cell(try #require(ColumnName("name")), stamp, .text(Array(unit.utf8))),
            Cell(try #require(ColumnName("factor")), stamp, .real(1)),
        ]
        var writer = ChangeFileWriter()
        let delta = RowDelta(id, RowState(birth: stamp, cells: cells))
        try writer.add(delta, to: #require(TableName("unit")))
        let file = try writer.finish(header, deflate: RawDeflate.deflateForMany)
        let name = ContainerName.changes(header, file.id)
        try put(file.bytes, name)
        return name.file
    }

    private func horizon() -> UInt64 {
        HybridClock.horizon(at: Int64(scene.now.timeIntervalSince1970 * 1000))
    }

    /// Expects that edits of both devices, one after the other, reach the other.
    private func expectEdits() async throws {
        for (index, name) in ["zzz", "mmm", "aaa"].enumerated() {
            let device = index == 1 ? phone : desk
            try device.edit("UPDATE item SET name = '\(name)' WHERE id = 1")
            try await scene.exchange(device, desk, phone)
            for device in [desk, phone] {
                #expect(try device.rows("SELECT name FROM item WHERE id = 1") == [name])
            }
        }
    }

    private func waiting(_ device: Device) throws -> [WaitingFile] {
        try device.inspect { try $0.files.waiting() }
    }

    @Test("A copy of an own change file under another number is no sign of an accident")
    func copied() async throws {
        try await scene.begin()
        let log = scene.container.appending("a/log").string
        let names = try FileManager.default.contentsOfDirectory(atPath: log)
        let first = names.filter { $0.contains("-0000000001-") }
        try #require(!first.isEmpty)
        for name in first {
            let copy = name.replacing("-0000000001-", with: "-0000000009-")
            try FileManager.default.copyItem(atPath: "\(log)/\(name)", toPath: "\(log)/\(copy)")
        }
        try await expectEdits()
    }

    // MARK: - Clocks

    @Test(
        "A clock that is too far ahead is refused wherever it is, and no clock follows it",
        arguments: ["header", "stamp", "seen", "card", "heard", "map"]
    )
    func farAhead(place: String) async throws {
        try await scene.begin()
        let clocks = [HybridClock.limit - 1, horizon() + 1_000_000 << 16]
        for clock in clocks {
            let near: UInt64 = 1_790_000_000_000 << 16
            let name: String
            switch place {
            case "header": name = try send("x", stamp: near, header: header(clock))
            case "stamp": name = try send("x", stamp: clock, header: header(near))
            case "seen":
                let seen = SeenClock(device: DeviceID(high: 1, low: 1), clock: clock)
                name = try send("x", stamp: near, header: header(near, seen: [seen]))
            case "map":
                let header = DocumentHeader(
                    group: try self.header(near).group,
                    device: stranger,
                    clock: clock
                )
                var map = SyncMap()
                map.exclude = [try #require(TableName("item"))]
                let file = try DocumentFile<SyncMap>.write(header, map)
                name = ContainerName.map(header, file.id).file
                try put(file.bytes, .map(header, file.id))
            default:
                let header = DocumentHeader(
                    group: try self.header(near).group,
                    device: stranger,
                    clock: place == "card" ? clock : near
                )
                let seen = SeenClock(device: try desk.ids()[0], clock: clock)
                let card = DeviceCard(
                    name: "x",
                    program: "x",
                    schema: .zero,
                    seen: place == "card" ? [] : [seen]
                )
                let file = try DocumentFile<DeviceCard>.write(header, card)
                name = ContainerName.card(header, file.id).file
                try put(file.bytes, .card(header, file.id))
            }
            try await scene.exchange(desk, phone)
            for device in [desk, phone] {
                let file = try #require(waiting(device).first { $0.name == name })
                #expect(file.reason.contains("is refused: its clock shows the year 2"))
                #expect(try device.inspect { try $0.membership.clock.last } < horizon())
            }
        }
        #expect(try desk.rows("SELECT name FROM unit") == ["kg"])
        try await expectEdits()
        // A device that joins is not taken in either.
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == scene.items(desk))
    }

    @Test("A clock just below the limit is taken, and later edits are later all the same")
    func justBelow() async throws {
        try await scene.begin()
        _ = try send("x", stamp: horizon() - 1, header: header(horizon() - 1))
        try await scene.exchange(desk, phone)
        #expect(try desk.rows("SELECT name FROM unit ORDER BY 1") == ["kg", "x"])
        try await expectEdits()
        #expect(try waiting(desk) == [] && waiting(phone) == [])
        try desk.edit("UPDATE unit SET factor = 2 WHERE name = 'x'")
        try await scene.exchange(desk, phone)
        #expect(try phone.rows("SELECT factor FROM unit WHERE name = 'x'") == ["2.0"])
    }

    @Test(
        "A device whose clock is decades ahead, or absurd, exchanges, also when it is right again"
    )
    func wrongWallClock() async throws {
        try await scene.begin()
        for year in [2099.0, 2300, 1970] {
            phone.skew = (year - 2026.7) * 31_557_600
            if year == 2099 {
                // As if the store's times were of that year as well.
                try phone.inspect { access in
                    var clock = try access.membership.clock
                    clock.observe(UInt64(HybridClock.unbelievable - 1) << 16)
                    try access.membership.setClock(clock)
                }
            }
            try phone.edit("INSERT INTO item (name) VALUES ('of \(Int(year))')")
            try await scene.exchange(phone, desk)
            try desk.edit("UPDATE item SET amount = amount + 1 WHERE name LIKE 'of %'")
            try await scene.exchange(desk, phone)
            #expect(try scene.items(phone) == scene.items(desk))
            #expect(try waiting(desk) == [] && waiting(phone) == [])
        }
        phone.skew = 0
        try await expectEdits()
    }

    @Test("A clock that is at the limit already returns, and what it stamped is stamped again")
    func poisoned() async throws {
        try await scene.begin()
        let far = Stamp(clock: HybridClock.limit - 1, device: stranger)
        for device in [desk, phone] {
            try device.inspect { access in
                let table = try #require(TableName("item"))
                var rows: [KnownRow] = []
                try access.states.forEachAlive(in: table) { rows.append($0) }
                for row in rows {
                    let cells = [Cell(try #require(ColumnName("amount")), far, .integer(9))]
                    let delta = RowDelta(row.id, RowState(birth: nil, cells: cells))
                    try access.states.join(delta, in: table)
                    try access.dirty.mark(row.id)
                }
                var clock = try access.membership.clock
                clock.observe(far.clock)
                try access.membership.setClock(clock)
                try access.set("map_clock", Int64(far.clock))
            }
        }
        try await expectEdits()
        for device in [desk, phone] {
            #expect(try scene.items(device) == ["aaa|9|home", "tea|9|home"])
            #expect(try device.inspect { try $0.membership.clock.last } < horizon())
            #expect(try device.inspect { try $0.integer("map_clock") ?? 0 } < Int64(horizon()))
            #expect(try waiting(device) == [])
        }
        try desk.edit("UPDATE item SET amount = 3")
        try await scene.exchange(desk, phone)
        #expect(try scene.items(phone) == ["aaa|3|home", "tea|3|home"])
    }

    // MARK: - Baselines

    /// Puts a baseline of a stranger into the container that says it covers all change files.
    private func cover(_ writer: ChangeFileWriter?) throws -> String {
        let header = try header(1_790_000_000_000 << 16)
        var parts: [Digest] = []
        if let writer {
            let part = try writer.finish(
                header,
                kind: .baselinePart,
                deflate: RawDeflate.deflateForMany
            )
            try put(part.bytes, .part(header, part.id))
            parts = [part.id]
        }
        let covers = try scene.files("log").map { name in
            let path = scene.container.appending("a").appending("log").appending(name)
            return try Envelope(
                reading: File.contents(of: path, limit: 1 << 20),
                name: name,
                inflate: RawDeflate.inflate
            ).id
        }
        let index = try BaselineIndex.write(header, parts: parts, covers: covers)
        try put(index.bytes, .baseline(header, index.id))
        return ContainerName.baseline(header, index.id).file
    }

    @Test(
        "A baseline that covers what it does not hold hides nothing, and no file goes for it",
        arguments: ["nothing", "no row", "an older value", "another table", "all"]
    )
    func falseCover(content: String) async throws {
        try await scene.begin()
        try desk.edit("UPDATE item SET amount = 8 WHERE name = 'milk'")
        try await scene.exchange(desk, phone)
        var writer: ChangeFileWriter? = content == "nothing" ? nil : ChangeFileWriter()
        if writer != nil, content != "no row" {
            try desk.inspect { access in
                try access.states.forEachByTable { row in
                    let isMilk = row.state.cells.contains { $0.value == .text(Array("milk".utf8)) }
                    var (table, state) = (row.table, row.state)
                    if content == "another table" && isMilk { table = try #require(TableName("x")) }
                    if content == "an older value" && isMilk {
                        let cells = state.cells.filter { $0.value != .integer(8) }
                        state = RowState(birth: state.birth, cells: cells)
                    }
                    try writer?.add(RowDelta(row.id, state), to: table)
                }
            }
        }
        let name = try cover(writer)
        let log = try scene.files("log")
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        // An id that came in another table first stays there: whoever writes that can hide the row from new devices.
        if content != "another table" {
            #expect(try scene.items(tablet) == scene.items(desk))
        }
        try await scene.exchange(desk, phone)
        for _ in 0..<2 {
            scene.wait(hours: 24 * 8)
            try await scene.exchange(desk, phone)
        }
        let refused = try waiting(desk).filter { $0.name == name }.map(\.reason)
        guard content != "all" else {
            #expect(try Set(log).isDisjoint(with: scene.files("log")))
            #expect(refused.isEmpty)
            return
        }
        #expect(try Set(log).isSubset(of: scene.files("log")))
        #expect(refused.count == 1 && refused[0].contains("cover files whose content it lacks"))
        #expect(try scene.items(desk) == ["milk|8|home", "tea|1|home"])
    }

    // MARK: - Own files

    private func status(_ device: Device) async throws -> SyncOverview {
        let sidecar = try Sidecar(in: device.sidecarPath)
        defer { try? sidecar.close() }
        var overview = try SyncOverview(of: sidecar)
        try await overview.compare(with: device.container(), sidecar, at: scene.now + 30)
        return overview
    }

    @Test(
        "An own file that is cut or gone is published again at the next run, and reported before",
        arguments: ["changes", "base", "part", "card", "map", "group"],
        [true, false]
    )
    func ownFile(ending: String, isCut: Bool) async throws {
        if ending == "group", !isCut { return }
        try await scene.begin()
        var map = SyncMap()
        map.exclude = [try #require(TableName("x"))]
        let sidecar = try Sidecar(in: desk.sidecarPath)
        try sidecar.publish(map, at: scene.now, program: "test")
        try sidecar.close()
        for device in [desk, phone] { device.options.acceptsChanges = true }
        if ending == "base" || ending == "part" {
            desk.options.upkeep.files = 0
            desk.options.upkeep.deference = 0
        }
        try await scene.exchange(desk, phone)
        desk.options.upkeep = UpkeepRules()
        try await scene.exchange(desk, phone)
        #expect(try await status(desk).state == .inStep)
        let own = try desk.inspect { access in
            try access.files.published().map(\.file).filter { $0.name.hasSuffix(".\(ending)") }
        }
        let file = try #require(own.last)
        let folder = scene.container.appending("a").appending(file.folder)
        let path = (file.folder.isEmpty ? scene.container : folder).appending(file.name)
        let bytes = try File.contents(of: path, limit: 1 << 20)
        try LocalFileSystem().remove(path)
        if isCut { try LocalFileSystem().write(Array(bytes.prefix(bytes.count / 2)), to: path) }
        #expect(try await status(desk).damaged == 1)
        #expect(try await status(desk).state == .behind)
        try await scene.exchange(desk)
        #expect(try await status(desk).state == .inStep)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == scene.items(desk))
        #expect(try waiting(tablet) == [])
        #expect(try tablet.inspect { try $0.membership.groupMap } == map)
        #expect(try scene.overview(of: tablet).devices.map(\.title).contains("desk"))
        try await scene.exchange(desk, phone)
        #expect(try waiting(phone) == [])
        let files = FileManager.default.subpaths(atPath: scene.container.string)
        try await scene.exchange(desk, phone, tablet)
        #expect(FileManager.default.subpaths(atPath: scene.container.string) == files)
    }

    @Test("No status says in step while files wait, the first exchange goes on, or sync is off")
    func notInStep() async throws {
        try await scene.begin()
        #expect(try await status(phone).state == .inStep)
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(desk)
        var overview = try await status(phone)
        #expect(overview.state == .behind && overview.untaken == 1)
        overview.isOff = true
        #expect(overview.state == .off)
        try await scene.exchange(phone)
        #expect(try await status(phone).state == .inStep)
        try phone.inspect { try $0.membership.setPhase(.enabling) }
        #expect(try await status(phone).state == .behind)
        try FileManager.default.removeItem(atPath: scene.container.string)
        #expect(try await status(desk).state == .localOnly)
    }

    // MARK: - Folders and machines

    @Test(
        "A folder that was renamed to another case, or doubled, is read at once",
        arguments: ["log", "base", "info", "blobs", "a"],
        ["UPPER", " (1)", " 2", " (Case Conflict)"]
    )
    func doubled(folder: String, change: String) async throws {
        try await scene.begin()
        let note = String(repeating: "n", count: 70_000)
        try desk.edit("INSERT INTO unit VALUES ('lb', 453, '\(note)')")
        if folder == "base" {
            desk.options.upkeep.files = 0
            desk.options.upkeep.deference = 0
        }
        try await scene.exchange(desk)
        desk.options.upkeep = UpkeepRules()
        let group = scene.container.appending("a")
        if folder == "base" { for name in try scene.files("log") { try scene.remove("log", name) } }
        let names = try Directory.open(group).names().map(\.description)
        for name in folder == "blobs" ? names.filter({ $0.hasPrefix("blob-") }) : [folder] {
            let path = folder == "a" ? group : group.appending(name)
            let other = change == "UPPER" ? name.uppercased() : name + change
            try LocalFileSystem()
                .move(path, to: path.removingLastComponent().appending(other))
        }
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == scene.items(desk))
        #expect(try tablet.rows("SELECT length(note) FROM unit WHERE name = 'lb'") == ["70000"])
        #expect(try scene.overview(of: tablet).devices.count == 2)
        // The makers see that their files are there.
        let before = FileManager.default.subpaths(atPath: scene.container.string)?
            .filter { $0.hasSuffix(".part") }
        try await scene.exchange(desk, phone)
        let after = FileManager.default.subpaths(atPath: scene.container.string)?
            .filter { $0.hasSuffix(".part") }
        #expect(before == after)
        #expect(try desk.ids().count == 1)
    }

    @Test("A folder of another group, or of nobody, is no double")
    func noDouble() async throws {
        try await scene.begin()
        for name in ["a-2", "ab", "a2", "b (1)"] {
            let log = scene.container.appending(name).appending("log")
            try LocalFileSystem().createDirectories(log)
            try LocalFileSystem().write([1, 2, 3], to: log.appending("x.changes"))
        }
        try await scene.exchange(desk)
        #expect(try waiting(desk) == [])
    }

    @Test("A machine's id that changes with each run makes no new device; a copy's files do")
    func machine() async throws {
        try await scene.begin()
        for run in 0..<3 {
            phone.options.machine = "machine-\(run)"
            try phone.edit("INSERT INTO item (name) VALUES ('jam \(run)')")
            try await scene.exchange(phone, desk)
        }
        #expect(try phone.ids().count == 1)
        #expect(try scene.overview(of: desk).devices.count == 1)
        let disk = try phone.save()
        try phone.edit("INSERT INTO item (name) VALUES ('figs')")
        try await scene.exchange(phone)
        phone.options.machine = "another"
        try phone.rollBack(to: disk)
        try await scene.exchange(phone, desk)
        #expect(try phone.ids().count == 2)
        #expect(try scene.items(phone) == scene.items(desk))
    }

    @Test("Files and folders have the mode of the container", arguments: [0o2770, 0o755, 0o700])
    func modes(mode: Int) async throws {
        try #require(chmod(scene.container.string, mode_t(mode)) == 0)
        try desk.edit("INSERT INTO unit VALUES ('lb', 453, hex(zeroblob(40000)))")
        try await scene.begin()
        var count = 0
        for name in FileManager.default.subpaths(atPath: scene.container.string) ?? [] {
            let info = try FileInfo(of: scene.container.appending(name))
            let expected = info.kind == .directory ? mode : mode & 0o666
            #expect(Int(info.mode) == expected, "\(name)")
            count += 1
        }
        #expect(count > 6)
    }

    // MARK: - Each file, each damage

    enum Damage: String, CaseIterable {
        case cut, empty, zeros, doubled, renamed, foreign, newer
    }

    @Test(
        "A damaged file is reported with its reason, or is nothing to report; all others are read",
        arguments: ["changes", "part", "base", "card", "map", "group", "blob"],
        Damage.allCases
    )
    func damaged(kind: String, damage: Damage) async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO unit VALUES ('lb', 453, hex(zeroblob(40000)))")
        let sidecar = try Sidecar(in: desk.sidecarPath)
        var map = SyncMap()
        map.exclude = [try #require(TableName("x"))]
        try sidecar.publish(map, at: scene.now, program: "test")
        try sidecar.close()
        for device in [desk, phone] { device.options.acceptsChanges = true }
        if kind == "base" || kind == "part" {
            desk.options.upkeep.files = 0
            desk.options.upkeep.deference = 0
        }
        try await scene.exchange(desk)
        desk.options.upkeep = UpkeepRules()
        let all = FileManager.default.subpaths(atPath: scene.container.string) ?? []
        let found = try #require(
            all.filter {
                kind == "blob" ? $0.contains("/blob-") && $0.count > 70 : $0.hasSuffix(".\(kind)")
            }
            .sorted().last
        )
        let path = scene.container.pushing(FilePath(found))
        let name = try #require(path.lastComponent).string
        let bytes = try File.contents(of: path, limit: 1 << 20)
        let other = path.removingLastComponent().appending("copy (1) of \(name)")
        var changed = bytes
        switch damage {
        case .cut: changed = Array(bytes.prefix(bytes.count / 2))
        case .empty: changed = []
        case .zeros: changed = [UInt8](repeating: 0, count: bytes.count / 2)
        case .foreign:
            // The group is at the header's beginning.
            changed[32] ^= 1
        case .newer: changed[11] = 9
        case .doubled, .renamed: break
        }
        if damage == .foreign || damage == .newer {
            let digest = changed.dropLast(32).withUnsafeBytes { Digest(of: $0) }
            changed.replaceSubrange(changed.count - 32..<changed.count, with: digest.bytes)
        }
        switch damage {
        case .cut, .empty, .zeros:
            try LocalFileSystem().remove(path)
            try LocalFileSystem().write(changed, to: path)
        case .renamed: try LocalFileSystem().move(path, to: other)
        case .doubled, .foreign, .newer: try LocalFileSystem().write(changed, to: other)
        }
        let tablet = try scene.device("tablet")
        tablet.options.acceptsChanges = true
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        let isListed = !["group", "blob"].contains(kind)
        let reasons = try waiting(tablet)
        switch damage {
        case .cut, .empty, .zeros:
            #expect(reasons.map(\.name) == (isListed ? [name] : []))
            for file in reasons { #expect(file.reason.contains("is incomplete or damaged")) }
        case .newer:
            #expect(reasons.map(\.kind) == (isListed ? [.newer] : []))
            for file in reasons {
                #expect(file.reason.contains("its format version is 9"))
            }
        case .doubled, .renamed, .foreign: #expect(reasons == [])
        }
        // Nothing is lost, and others' files go on, in both directions.
        try tablet.edit("INSERT INTO item (name) VALUES ('figs')")
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(desk, tablet, desk, phone, tablet, desk)
        let items = ["figs|1|NULL", "jam|1|NULL", "milk|2|home", "tea|1|home"]
        for device in [desk, phone, tablet] {
            #expect(try scene.items(device) == items, "\(device.name)")
            #expect(try device.rows("SELECT length(note) FROM unit WHERE name = 'lb'") == ["80000"])
            #expect(try device.ids().count == 1)
            let left = try waiting(device).map(\.kind)
            #expect(left == (damage == .newer && isListed ? [.newer] : []), "\(device.name)")
        }
    }
}
