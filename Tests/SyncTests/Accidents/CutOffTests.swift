import Changes
import Foundation
import GRDB
import Remotes
import Testing

@testable import Sync

@Suite("A container that goes away")
struct CutOffTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    @Test("at any of its calls keeps nothing from being captured, and the next runs end equal")
    func everyCall() async throws {
        try await scene.begin()
        let real = phone.folder
        let long = String(repeating: "long ", count: 20_000)
        var isDone = false
        for calls in 0..<100 where !isDone {
            try desk.edit("INSERT INTO item (name) VALUES ('of the desk \(calls)')")
            try desk.edit("UPDATE unit SET note = ? WHERE name = 'kg'", ["\(calls) \(long)"])
            try await scene.exchange(desk)
            try phone.edit("INSERT INTO item (name) VALUES ('of the phone \(calls)')")
            let patience = BrokenFolder.Patience(calls)
            phone.folder = BrokenFolder(real: real, patience: patience)
            let before = try phone.inspect { try $0.integer("exchanged") }
            let outcome = try await scene.exchange(phone)
            isDone = !patience.isAtEnd
            #expect((outcome.trouble == nil) == isDone)
            // It is captured, sent or not, and only a whole exchange counts as one.
            #expect(
                try phone.inspect { try $0.shadow.count(in: #require(.init("item"))) } >= calls + 3
            )
            #expect(try (phone.inspect { try $0.integer("exchanged") } == before) != isDone)
            phone.folder = real
            try await scene.exchange(phone, desk, phone)
            #expect(try scene.items(desk) == scene.items(phone))
            #expect(try scene.items(phone).contains("of the phone \(calls)|1|NULL"))
            let notes = try desk.rows("SELECT substr(note, 1, 3) FROM unit")
            #expect(try phone.rows("SELECT substr(note, 1, 3) FROM unit") == notes)
        }
        #expect(isDone)
    }

    @Test("at once leaves what is edited waiting, and what has arrived is written all the same")
    func atOnce() async throws {
        try await scene.begin()
        let real = phone.folder
        try desk.edit("INSERT INTO item (name) VALUES ('figs')")
        try await scene.exchange(desk)
        // It arrives, and an application is in the way.
        phone.options.reserve = { nil }
        #expect(try await scene.exchange(phone).isPutOff)
        phone.options.reserve = { () }
        phone.folder = BrokenFolder(real: real, patience: .init(0))
        try phone.edit("INSERT INTO item (name) VALUES ('jam')")
        let outcome = try await scene.exchange(phone)
        #expect(!outcome.hasContainer && outcome.trouble is RemoteError)
        #expect(outcome.inserted == 1)
        #expect(try phone.inspect { try $0.files.unpublished().count } == 1)
        phone.folder = real
        try await scene.exchange(phone, desk)
        #expect(try scene.items(desk) == scene.items(phone))
    }
}
