import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Kills the built program, and rclone with it, at each request to a real server, before it and after it.
@Suite("A command killed while it talks to a server", .serialized)
struct ServedCrashTests {
    /// A command that is killed.
    struct Scenario: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        /// The command after it, which heals.
        var next: [String]
        /// Brings the scene into the state before it.
        var prepare: @Sendable (ServedScene) throws -> Void
        /// How many backups may go to the trash.
        var mayGo = 0
        /// How many there are once it was healed: more than before.
        var comes: ClosedRange<Int>

        var testDescription: String { arguments[0] }

        static let all = [
            Scenario(
                arguments: ["backup", "--tag", "b"],
                next: ["backup", "--tag", "b"],
                prepare: { _ in },
                comes: 1...2
            ),
            Scenario(
                arguments: ["prune", "--keep-last", "1"],
                next: ["prune", "--keep-last", "1"],
                prepare: { scene in
                    for text in ["second", "third"] {
                        try scene.change(text)
                        try scene.check("backup")
                    }
                },
                mayGo: 1,
                comes: -1 ... -1
            ),
            Scenario(
                arguments: ["copy", "--waiting"],
                next: ["copy", "--waiting"],
                prepare: { scene in
                    try scene.change("second")
                    scene.proxy.mode = .refuse
                    try scene.check("backup", "--set", "queue=true", "--tag", "b")
                    scene.proxy.mode = .pass
                },
                comes: 1...1
            ),
            Scenario(
                arguments: ["restore", "latest", "--yes"],
                next: ["backup"],
                prepare: { try $0.change("old") },
                comes: 1...2
            ),
        ]
    }

    /// How many moments of a scenario a sample has: few, but for one server.
    private static func sampled(_ scenario: Scenario, _ place: ServedScene.Place) -> Int {
        if place.kind == .webdav, !place.isEncrypted { return 2 }
        let chosen =
            switch place.kind {
            case .webdav: "copy"
            case .sftp: "prune"
            case .s3: "backup"
            }
        return scenario.arguments[0] == chosen ? 1 : 0
    }

    /// How many moments of a talk in a cipher there are.
    private static let parts = 40

    @Test(
        "A killed command lists no damaged backup and loses none, and the next run repairs",
        arguments: places
    )
    func everywhere(place: ServedScene.Place) throws {
        let scene = try ServedScene(place)
        let first = String(try scene.check("backup", "--tag", "a").text.dropLast())
        try scene.check("pin", first)
        let new = try Contents(of: scene.stores)
        try scene.save()
        for scenario in Self.scenarios where FaultExtent.isFull || Self.sampled(scenario, place) > 0
        {
            try scene.restart(scenario)
            let before = try scene.listing()
            let old = try Contents(of: scene.stores)
            let moments = try scene.moments(of: scenario, parts: Self.parts)
            let tried = FaultExtent.sample(moments, Self.sampled(scenario, place))
            for moment in tried {
                try scene.bringBackAll()
                let trial = ServedTrial(scene, scenario, moment, first, before, [old, new])
                try trial.run()
            }
            FaultExtent.report(
                "\(scenario.arguments[0]) over \(place.testDescription): killed at \(tried.count) of \(moments.count) moments"
            )
            #expect(!tried.isEmpty)
        }
    }

    /// Those with GROCERYDUDE_FAULTS_SERVER in their name, or all.
    private static var places: [ServedScene.Place] {
        let text = ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS_SERVER"]
        guard let text, !text.isEmpty else {
            return ServedScene.Place.all
        }
        return ServedScene.Place.all.filter { $0.testDescription.contains(text) }
    }

    /// Those whose name is that of GROCERYDUDE_FAULTS_SCENARIO, or all.
    private static var scenarios: [Scenario] {
        let text = ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS_SCENARIO"]
        guard let text, !text.isEmpty else {
            return Scenario.all
        }
        return Scenario.all.filter { $0.arguments[0].contains(text) }
    }
}

/// One run that is killed, and what is expected after it.
private struct ServedTrial {
    let scene: ServedScene
    let scenario: ServedCrashTests.Scenario
    let moment: TCPProxy.Moment
    /// The pinned backup.
    let first: String
    let before: ServedScene.Listing
    let states: [Contents]

    init(
        _ scene: ServedScene,
        _ scenario: ServedCrashTests.Scenario,
        _ moment: TCPProxy.Moment,
        _ first: String,
        _ before: ServedScene.Listing,
        _ states: [Contents]
    ) {
        (self.scene, self.scenario, self.moment, self.first) = (scene, scenario, moment, first)
        (self.before, self.states) = (before, states)
    }

    private var what: Comment { "\(scenario.arguments[0]) killed at \(moment)" }

    func run() throws {
        let status = try scene.run(scenario.arguments, killedAt: moment)
        // Names and times differ from run to run, and with them the number of bytes.
        #expect(status == 128 + SIGKILL || status == 0, what)
        try expectNothingLost(scene.listing())
        try expectWhole()

        let next = try scene.run(scenario.next)
        #expect(next.status == 0, "\(what): \(next.errors)")
        let healed = try scene.listing()
        expectNothingLost(healed)
        #expect(healed.partial.isEmpty, "\(what): \(healed.partial)")
        #expect(
            scenario.comes.contains(healed.backups.count - before.backups.count),
            "\(what): \(healed.backups)"
        )
        let left = try scene.leftovers()
        #expect(left.isEmpty, "\(what): \(left)")
        let stores = try Contents(of: scene.stores)
        #expect(states.contains(stores), "\(what): the stores are neither old nor new")
        try expectWhole()
    }

    private func expectNothingLost(_ listing: ServedScene.Listing) {
        let gone = before.backups.subtracting(listing.backups)
        #expect(gone.count <= scenario.mayGo, "\(what): \(gone) went")
        #expect(gone.isSubset(of: listing.trashed), "\(what): \(gone) are lost")
    }

    /// Expects a machine that knows nothing of it to find every backup whole, and the pin and the tags there.
    private func expectWhole() throws {
        let check = try scene.run(["check", "--all"], elsewhere: true)
        #expect(check.status == 0, "\(what): \(check.text) \(check.errors)")
        let list = try scene.run(["list", "--json"], elsewhere: true)
        let rows = try JSONSerialization.jsonObject(with: Data(list.output)) as? [[String: Any]]
        let row = try #require(rows?.first { $0["name"] as? String == first }, what)
        #expect(row["pinned"] as? Bool == true && row["tags"] as? [String] == ["a"], what)
    }
}

extension ServedScene {
    /// Prepares a scenario from what was saved first, so that `bringBackAll` brings that back.
    fileprivate func restart(_ scenario: ServedCrashTests.Scenario) throws {
        try bringBack()
        try scenario.prepare(self)
        try save("prepared")
    }

    fileprivate func bringBackAll() throws { try bringBack("prepared") }

    /// The moments at which a run may be killed, as one run shows them that is not.
    fileprivate func moments(
        of scenario: ServedCrashTests.Scenario,
        parts: Int
    ) throws -> [TCPProxy.Moment] {
        proxy.mode = .pass
        let outcome = try run(scenario.arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let (count, sent) = (proxy.requests.count, proxy.sent)
        guard count == 0 else {
            return (1...count).flatMap { [.before($0), .after($0)] } + [.sent(sent / 2)]
        }
        return (1...parts).map { .sent(sent * $0 / (parts + 1)) }
    }
}
