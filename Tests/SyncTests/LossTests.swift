import Files
import Foundation
import SystemPackage
import Testing

@testable import Sync

@Suite("A container that has lost files")
struct LossTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    /// Lets a third device send a row that the desk takes, and the phone does not.
    ///
    /// - Returns: the row's file.
    private func send() async throws -> String {
        try await scene.begin()
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet, phone, desk, phone)
        let before = try Set(scene.files("log"))
        try tablet.edit("INSERT INTO item (name) VALUES ('figs')")
        try await scene.exchange(tablet, desk)
        return try #require(scene.files("log").first { !before.contains($0) })
    }

    private func baselines() throws -> [String] {
        let path = scene.container.appending("a").appending("base")
        guard try FileInfo.ifPresent(path) != nil else { return [] }
        return try scene.files("base").filter { $0.hasSuffix(".base") }
    }

    @Test("of a device that is gone gets them again from who has read them, once")
    func others() async throws {
        let file = try await send()
        try scene.remove("log", file)
        try await scene.exchange(desk, phone)
        #expect(try baselines().isEmpty)
        for _ in 0..<3 {
            scene.wait(hours: 2)
            try await scene.exchange(desk, phone)
        }
        #expect(try scene.items(desk) == ["figs|1|NULL", "milk|2|home", "tea|1|home"])
        #expect(try scene.items(phone) == scene.items(desk))
        #expect(try baselines().count == 1)
    }

    @Test("has them again before anybody has waited long enough")
    func late() async throws {
        let file = try await send()
        let path = scene.container.appending("a").appending("log")
        let aside = scene.container.appending(".aside").string
        try FileManager.default.moveItem(atPath: path.appending(file).string, toPath: aside)
        try await scene.exchange(desk)
        try FileManager.default.moveItem(atPath: aside, toPath: path.appending(file).string)
        scene.wait(hours: 4)
        try await scene.exchange(desk, phone)
        try FileManager.default.moveItem(atPath: path.appending(file).string, toPath: aside)
        try await scene.exchange(desk, phone)
        #expect(try baselines().isEmpty)
        #expect(try scene.items(phone) == scene.items(desk))
    }

    @Test("only has two files under each other's names: all devices read both")
    func exchangedNames() async throws {
        try await scene.begin()
        let log = scene.container.appending("a").appending("log")
        func move(_ from: FilePath, _ to: FilePath) throws {
            try FileManager.default.moveItem(atPath: from.string, toPath: to.string)
        }
        var asides: [FilePath] = []
        for (device, name) in [(desk, "figs"), (phone, "a name that makes its file longer")] {
            let before = try Set(scene.files("log"))
            try device.edit("INSERT INTO item (name) VALUES ('\(name)')")
            try await scene.exchange(device)
            let file = try #require(scene.files("log").first { !before.contains($0) })
            asides.append(scene.container.appending(".aside \(file)"))
            try move(log.appending(file), asides[asides.count - 1])
        }
        let names = asides.map { String($0.lastComponent!.string.dropFirst(".aside ".count)) }
        try move(asides[0], log.appending(names[1]))
        try move(asides[1], log.appending(names[0]))
        let contents = try names.map { try File.contents(of: log.appending($0), limit: 1 << 20) }
        scene.wait(hours: 2)
        try await scene.exchange(desk, desk)
        let after = try names.map { try File.contents(of: log.appending($0), limit: 1 << 20) }
        #expect(after == contents)
        try await scene.exchange(phone)
        let items = try scene.items(desk)
        #expect(items.count == 4 && items.contains("figs|1|NULL"))
        #expect(try scene.items(phone) == items)
    }

    @Test("was emptied, and filled by one who did not know all: the others add it at once")
    func refilled() async throws {
        _ = try await send()
        try scene.empty()
        phone.options.refills = true
        try await scene.exchange(phone)
        phone.options.refills = false
        try await scene.exchange(desk, phone)
        #expect(try scene.items(phone) == ["figs|1|NULL", "milk|2|home", "tea|1|home"])
        #expect(try baselines().count == 2)
        for _ in 0..<3 {
            scene.wait(hours: 2)
            try await scene.exchange(desk, phone)
        }
        #expect(try baselines().count == 2)
    }

    @Test("that others covered, and others again those, has lost none")
    func removed() async throws {
        _ = try await send()
        try await scene.exchange(phone)
        for round in 0..<3 {
            try phone.edit("UPDATE item SET amount = \(round) WHERE name = 'milk'")
            try await scene.exchange(phone, desk)
            desk.options.upkeep.files = 0
            desk.options.upkeep.deference = 0
            try await scene.exchange(desk)
            desk.options.upkeep = UpkeepRules()
            for _ in 0..<2 {
                // On the first day it is seen to be there.
                scene.wait(hours: 24 * 8)
                try await scene.exchange(phone, desk)
            }
        }
        #expect(try baselines().count == 1)
        let kept = try baselines()
        for _ in 0..<3 {
            scene.wait(hours: 3)
            try await scene.exchange(phone, desk)
        }
        #expect(try baselines() == kept)
    }
    @Test("has lost none for who comes back and finds two baselines, one for the other")
    func away() async throws {
        try await scene.begin()
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet, phone, desk)
        for _ in 0..<2 {
            for _ in 0..<2 {
                scene.wait(hours: 24 * 8)
                try await scene.exchange(phone, desk)
            }
            try phone.edit("INSERT INTO item (name) VALUES ('figs')")
            desk.options.upkeep.files = 0
            desk.options.upkeep.deference = 0
            try await scene.exchange(phone, desk)
            desk.options.upkeep = UpkeepRules()
            try await scene.exchange(desk, phone)
        }
        let kept = try baselines()
        #expect(kept.count == 2)
        for _ in 0..<3 {
            try await scene.exchange(tablet)
            scene.wait(hours: 3)
        }
        #expect(try scene.items(tablet) == scene.items(desk))
        #expect(try baselines() == kept)
    }
}
