import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A command of sync that is disturbed on the desk, and what goes on after it.
struct SyncFaultScenario: Sendable, CustomTestStringConvertible {
    var name: String
    /// The arguments after 'sync'.
    var arguments: @Sendable (SyncTrial) -> [String]
    var prepare: @Sendable (SyncTrial) throws -> Void
    /// Has the desk end what was disturbed, as a person would, and the others hear of it.
    var finish: @Sendable (SyncTrial) throws -> Void
    /// Sees what only this scenario promises, right after it was disturbed.
    var expect: @Sendable (SyncTrial, String) throws -> Void = { _, _ in }
    /// The rows on both machines in the end.
    var final: [String]
    /// The edits that lose, on either machine.
    var conflicts = 0

    var testDescription: String { name }
}

extension SyncFaultScenario {
    static let all: [SyncFaultScenario] =
        [enableFirst, enableSecond, run, seed, disable, disableAsBefore]
        + ["edits", "merge", "container"].map(rejoin) + recoveries

    /// The rows of both machines.
    private static let union = [
        "figs 3 home -", "milk 2 home -", "pens 5 work -", "tea 1 home 70000",
    ]

    private static let desk = ["milk 2 home -", "pens 5 work -", "tea 1 home 70000"]

    static let enableFirst = enable("enable that begins") { _ in }

    static let enableSecond = enable("enable that joins") { trial in
        try trial.enable(trial.phone)
    }

    private static func enable(
        _ name: String,
        prepare: @escaping @Sendable (SyncTrial) throws -> Void
    ) -> SyncFaultScenario {
        SyncFaultScenario(
            name: name,
            arguments: { Array($0.desk.enabling.dropFirst()) },
            prepare: prepare,
            finish: { trial in
                // A run goes on where it was, unless it had not yet begun.
                let next = try trial.desk.run(["sync"])
                if next.status != 0 {
                    #expect(next.errors.contains("does not take part"), "\(next.errors)")
                    try trial.enable(trial.desk)
                }
                let before = try #require(try trial.desk.sidecar).appending("before.sqlite")
                #expect(try SyncMachine.items(in: before) == desk)
                let phone = try trial.phone.run(trial.phone.enabling)
                #expect(
                    phone.status == 0 || phone.errors.contains("already"),
                    "\(phone.errors)"
                )
            },
            final: union
        )
    }

    static let run = SyncFaultScenario(
        name: "run",
        arguments: { _ in [] },
        prepare: { trial in
            try trial.begin()
            try trial.phone.edit(
                """
                UPDATE item SET amount = 7 WHERE name = 'milk'; DELETE FROM item WHERE name = 'pens';
                INSERT INTO item (name, list_id, photo)
                    SELECT 'jam', id, zeroblob(80000) FROM list WHERE name = 'work';
                UPDATE list SET name = 'house' WHERE name = 'home'
                """
            )
            try trial.phone.check("sync")
            try trial.desk.edit(
                """
                UPDATE item SET amount = 8, photo = zeroblob(90000) WHERE name = 'milk';
                DELETE FROM item WHERE name = 'figs';
                INSERT INTO item (name, list_id) SELECT 'ink', id FROM list WHERE name = 'work'
                """
            )
        },
        finish: { try $0.desk.check("sync") },
        expect: { trial, what in
            // One transaction, or none.
            let items = try trial.desk.items()
            #expect(items == final || items == unwritten, "\(what): \(items)")
        },
        final: final,
        conflicts: 1
    )

    /// The desk's rows before its run has written those of the phone, and after.
    static let unwritten = ["ink 1 work -", "milk 8 home 90000"] + desk.dropFirst()
    static let final = [
        "ink 1 work -", "jam 1 work 80000", "milk 8 house 90000", "tea 1 house 70000",
    ]

    static let seed = SyncFaultScenario(
        name: "seed",
        arguments: { _ in ["seed", "--yes"] },
        prepare: { trial in
            try trial.begin()
            try trial.desk.edit("UPDATE item SET amount = 8 WHERE name = 'milk'")
            try trial.phone.edit("DELETE FROM item WHERE name = 'pens'")
            try trial.empty()
        },
        finish: { trial in
            let next = try trial.desk.run(["sync"])
            #expect([0, 10].contains(next.status), "\(next.errors)")
            if next.status == 10 { try trial.desk.check("sync", "seed", "--yes") }
        },
        expect: { trial, what in
            let items = try trial.desk.items()
            #expect(items == edited, "\(what): \(items)")
        },
        final: ["figs 3 home -", "milk 8 home -", "tea 1 home 70000"]
    )

    private static let edited = [
        "figs 3 home -", "milk 8 home -", "pens 5 work -", "tea 1 home 70000",
    ]

    static let disable = leaving("disable", ["disable", "--yes"], items: union)
    static let disableAsBefore = leaving(
        "disable --as-before",
        ["disable", "--as-before", "--yes"],
        items: desk
    )

    /// A store that left, and then joins again.
    private static func leaving(
        _ name: String,
        _ arguments: [String],
        items: [String]
    ) -> SyncFaultScenario {
        SyncFaultScenario(
            name: name,
            arguments: { _ in arguments },
            prepare: { try $0.begin() },
            finish: { trial in
                let log = try trial.log()
                let before = try trial.desk.items()
                // No run takes the content from before for edits, or that of others for news.
                _ = try trial.desk.run(["sync"])
                #expect(try trial.log() == log)
                #expect(try trial.desk.items() == before)
                let next = try trial.desk.run(["sync"] + arguments)
                #expect(
                    next.status == 0 || next.errors.contains("does not take part"),
                    "\(next.errors)"
                )
                #expect(try trial.desk.items() == items)
                let copy = try #require(try trial.desk.sidecar).appending("before.sqlite")
                #expect(try SyncMachine.items(in: copy) == desk)
                let again = try trial.desk.run(trial.desk.enabling)
                #expect(again.status == 0, "\(again.errors)")
            },
            expect: { trial, what in
                let items = try trial.desk.items()
                #expect(items == union || items == desk, "\(what): \(items)")
            },
            final: union
        )
    }

    /// What a person says after an older copy of the store was put in its place.
    static func rejoin(_ take: String) -> SyncFaultScenario {
        let finals = [
            // An edit that the desk had not heard of is nothing that it takes back.
            "edits": ["figs 3 home -", "milk 2 home -", "pens 5 work -", "tea 4 home 70000"],
            "merge": ["figs 3 home -", "ink 1 work -", "milk 9 home -", "pens 5 work -"]
                + ["tea 4 home 70000"],
            "container": ["figs 3 home -", "ink 1 work -", "milk 9 home -", "tea 4 home 70000"],
        ]
        return SyncFaultScenario(
            name: "rejoin --take \(take)",
            arguments: { _ in ["rejoin", "--take", take, "--yes"] },
            prepare: { trial in
                try trial.begin()
                try trial.desk.edit("PRAGMA wal_checkpoint(TRUNCATE)")
                let copy = trial.desk.root.appending("copy.sqlite")
                try Tool.check("cp", [trial.desk.store.string, copy.string])
                try trial.desk.edit(
                    """
                    UPDATE item SET amount = 9 WHERE name = 'milk';
                    INSERT INTO item (name, list_id) SELECT 'ink', id FROM list WHERE name = 'work';
                    DELETE FROM item WHERE name = 'pens'
                    """
                )
                try trial.desk.check("sync")
                try trial.phone.check("sync")
                try trial.phone.edit("UPDATE item SET amount = 4 WHERE name = 'tea'")
                try trial.phone.check("sync")
                try Tool.check("mv", [copy.string, trial.desk.store.string])
                let asked = try trial.desk.run(["sync"])
                try #require(asked.status == 26, "\(asked.errors)")
            },
            finish: { trial in
                let next = try trial.desk.run(["sync"])
                #expect([0, 26].contains(next.status), "\(next.errors)")
                if next.status == 26 {
                    try trial.desk.check("sync", "rejoin", "--take", take, "--yes")
                }
            },
            final: finals[take] ?? []
        )
    }
}
