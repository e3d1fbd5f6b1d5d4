@testable internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("An exposed file")
struct ExposureTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = try sandbox.write("x", to: "etc/app/file")
    }

    private func mode(_ mode: Int, _ relative: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: sandbox.path(relative).string
        )
    }

    private func expect(_ relative: String, _ reason: Exposure.Reason, of path: FilePath) throws {
        let exposure = try #require(Exposure(of: path))
        #expect(exposure.reason == reason)
        #expect(exposure.path == sandbox.path(relative))
    }

    @Test("is none that only its owner may change, though everybody may write beside it")
    func good() throws {
        #expect(Exposure(of: path) == nil)
        try mode(0o1777, "etc")
        #expect(Exposure(of: path) == nil)
        #expect(Exposure(of: sandbox.path("etc/nothing/there")) == nil)
        try sandbox.link("loop", to: "loop")
        #expect(Exposure(of: sandbox.path("loop")) == nil)
    }

    @Test("is one that everybody may change, or a directory on its way, whatever leads there")
    func everybody() throws {
        try sandbox.directory("other")
        try sandbox.link("other/link", to: "../etc/app/../app/file")
        let link = sandbox.path("other/link")
        for (name, mode) in [("etc/app/file", 0o602), ("etc/app", 0o777), ("etc", 0o703)] {
            try self.mode(mode, name)
            try expect(name, .everybody, of: path)
            try expect(name, .everybody, of: link)
            try self.mode(name.hasSuffix("file") ? 0o600 : 0o700, name)
        }
        // The directory of the link itself.
        try mode(0o777, "other")
        try expect("other", .everybody, of: link)
        #expect(Exposure(of: path) == nil)
    }

    @Test("is any in a directory to which everybody may add files, or that another user made there")
    func entries() throws {
        let directory = sandbox.path("etc/app")
        #expect(Exposure(ofEntriesIn: directory) == nil)
        #expect(Exposure(ofEntriesIn: sandbox.path("etc/none")) == nil)
        try sandbox.link("etc/link", to: "app")
        for (mode, reason) in [(0o1777, Exposure.Reason.everybody), (0o1770, .group)] {
            try self.mode(mode, "etc/app")
            let expected = reason == .group && geteuid() != 0 ? nil : reason
            #expect(Exposure(of: path) == nil)
            #expect(Exposure(ofEntriesIn: directory)?.reason == expected)
            #expect(Exposure(ofEntriesIn: sandbox.path("etc/link"))?.reason == expected)
        }
        try mode(0o777, "etc")
        #expect(Exposure(ofEntriesIn: directory)?.path == sandbox.path("etc"))
    }

    @Test("is any in another user's directory", .enabled(if: geteuid() == 0))
    func othersEntries() throws {
        try mode(0o1777, "etc")
        try Tool.check("chown", ["65534", sandbox.path("etc/app").string])
        // A user other than root meets the same in a sticky directory.
        let entries = Exposure(ofEntriesIn: sandbox.path("etc/app"))
        #expect(entries?.reason == .owner(65534))
    }

    @Test("is for root one of another user, or of a group", .enabled(if: geteuid() == 0))
    func root() throws {
        try mode(0o660, "etc/app/file")
        try expect("etc/app/file", .group, of: path)
        try mode(0o600, "etc/app/file")
        try Tool.check("chown", ["65534", sandbox.path("etc/app").string])
        try expect("etc/app", .owner(65534), of: path)
        try Tool.check("chown", ["0", sandbox.path("etc/app").string])
        try sandbox.link("link", to: "etc/app/file")
        try Tool.check("chown", ["-h", "65534", sandbox.path("link").string])
        try expect("link", .owner(65534), of: sandbox.path("link"))
    }

    @Test("is a program in a line for the shell, or a script that one runs, and no data")
    func programs() throws {
        for name in ["run me", "script", "data"] { try sandbox.write("x", to: name) }
        try mode(0o777, "run me")
        try mode(0o666, "script")
        try mode(0o666, "data")
        let home = sandbox.path.string
        func exposed(_ line: String) -> FilePath? {
            Exposure(ofProgramsIn: line, home: home)?.path
        }
        for line in [
            "'\(home)/run me'", "\"\(home)/run me\" now", "~/run\\ me", "true && $HOME/run' me'",
            "su app -c '~/run\\ me'", "X=1 nice '\(home)/run me'", "(cd /; ${HOME}/run\\ me)",
            "x=$('\(home)/run me')",
        ] {
            #expect(exposed(line) == sandbox.path("run me"), "\(line)")
        }
        for line in [
            "sh \(home)/script", "/bin/bash -e \(home)/script", ". \(home)/script",
            "python3 ~/script",
        ] {
            #expect(exposed(line) == sandbox.path("script"), "\(line)")
        }
        for line in [
            "rsync -a \(home)/data /srv", "sh -c 'cat ~/data'", "sqlite3 \(home)/data 'PRAGMA x'",
            "cp ~/data /srv", "true", "/bin/sh -c true", "",
            "echo '", "\(home)/nothing", "script",
        ] {
            #expect(exposed(line) == nil, "\(line)")
        }
    }
}
