import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Stores directories that the program's own state, caches or configuration lie in.
@Suite("The program's own directories")
struct OwnDirectoriesTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        let first = try run(["backup"])
        #expect(first.status == 0, "\(first.errors)")
    }

    private func run(
        _ arguments: [String],
        _ variable: String? = nil,
        at place: String = ""
    )
        throws -> Tool.Outcome
    {
        var environment = ["GROCERYDUDE_STORES": "Stores", "GROCERYDUDE_REMOTE": "Remote"]
        if let variable { environment[variable] = program.sandbox.path(place).string }
        return try program.run(arguments, environment: environment)
    }

    private func refuse(_ arguments: [String], _ variable: String, at place: String) throws {
        let outcome = try run(arguments, variable, at: place)
        #expect(outcome.status == 1, "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.contains("the program's own directory"), "\(outcome.errors)")
        #expect(outcome.errors.contains("set '\(variable)' to"), "\(outcome.errors)")
    }

    @Test(
        "in the stores directory are refused: no backup contains them, and no restore replaces them",
        arguments: ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"],
        ["Stores/inner", "Link/inner"]
    )
    func refused(variable: String, place: String) throws {
        try program.sandbox.link("Link", to: "Stores")
        let key = "\(place)/grocerydude/key"
        // At first there is no such directory: a run would make it.
        for isThere in [false, true] {
            if isThere { try program.sandbox.write("a key", to: key) }
            try refuse(["backup"], variable, at: place)
            try refuse(["backup", "--dry-run"], variable, at: place)
            try refuse(["restore", "latest", "--yes"], variable, at: place)
        }
        #expect(try program.sandbox.read(key) == Array("a key".utf8))
        let names = try Directory.open(program.sandbox.path("Remote")).names().map(\.description)
        #expect(names.count { $0.hasSuffix(".zip") } == 1)
    }

    @Test(
        "in the stores directory are refused before any of them is made",
        .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed"),
        arguments: ["Stores", "Stores/inner", "Link/inner", "Later", "XDG_CACHE_HOME"]
    )
    func notMade(place: String) throws {
        try program.sandbox.link("Link", to: "Stores")
        try program.sandbox.link("Later", to: "Stores/later")
        let before = try program.sandbox.contents(of: "Stores")
        let remote = "rclone::local:\(program.sandbox.path("Remote"))"
        let isCache = place.hasPrefix("XDG")
        let variable = isCache ? place : "staging"
        for command in [["backup"], ["backup", "--dry-run"], ["restore", "latest", "--yes"]] {
            let arguments = command + ["--remote", remote]
            if isCache {
                try refuse(arguments, variable, at: "Stores/inner")
            } else {
                let outcome = try run(arguments + ["--set", "staging=\(place)"])
                #expect(outcome.status == 1, "\(command): \(outcome.errors)")
                #expect(
                    outcome.errors.contains("set '\(variable)' to"),
                    "\(command): \(outcome.errors)"
                )
            }
            #expect(try program.sandbox.contents(of: "Stores") == before, "\(command)")
        }
    }

    @Test("in a stores directory keep it from being linked")
    func linked() throws {
        let link = ["link", "Remote", "--stores", "Stores"]
        try refuse(link, "XDG_STATE_HOME", at: "Stores/inner")
    }
}
