import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Links of several applications")
struct LinkedApplicationsTests {
    let program: Program
    private var sandbox: Sandbox { program.sandbox }
    private static let pieces = ".config/grocerydude/config.d"

    init() throws { program = try Program() }

    @Test(
        "A link of a second application leaves the first one's backups as they are",
        arguments: [true, false]
    )
    func second(isLinked: Bool) throws {
        for name in ["photos", "notes"] {
            try sandbox.directory(name)
            let store = sandbox.path("\(name)/a.sqlite").string
            try Tool.check("sqlite3", [store, "CREATE TABLE t (x)"])
        }
        if isLinked {
            try program.expect("link", "P", "--stores", "photos")
        } else {
            try program.configure("stores: ~/photos\nremote: ~/P\n")
            try sandbox.directory("P")
        }
        try program.expect("link", "N", "--stores", "notes", "--profile", "notes")
        try program.expect("backup", "--quiet")
        #expect(try sandbox.contents(of: "P").paths.contains { $0.hasSuffix(" Stores.zip") })
        #expect(try !sandbox.contents(of: "N").paths.contains { $0.hasSuffix(" Stores.zip") })
        try program.expect("backup", "--all-profiles", "--quiet")
        #expect(try sandbox.contents(of: "N").paths.contains { $0.hasSuffix(" Stores.zip") })
        // The stores directory of a profile is not replaced without a word.
        let other = try program.expect(
            "link",
            "N",
            "--stores",
            "photos",
            "--profile",
            "notes",
            status: 1
        )
        #expect(other.errors.contains("would not be backed up any more"), "\(other.errors)")
    }

    @Test("A link refuses a folder in the stores directory, and makes none there")
    func inside() throws {
        try sandbox.directory("photos")
        let outcome = try program.expect("link", "photos/R", "--stores", "photos", status: 1)
        #expect(outcome.errors.contains("is inside the stores directory"), "\(outcome.errors)")
        #expect(!sandbox.exists("photos/R") && !sandbox.exists(Self.pieces))
    }
}
