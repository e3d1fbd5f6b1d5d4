import Age
import Archives
import Backups
import Files
import Foundation
import Operations
import Remotes
import Sample
import Stores
import Sync
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

@Suite("Hints")
struct HintTests {
    @Test(
        "A hint names the command or the option that helps",
        arguments: [
            (OperationError.noStores("/s"), "--stores DIR"),
            (OperationError.noStores(Profile().stores), "grocerydude init'"),
            (OperationError.nothingToBackUp("/s"), "--stores DIR"),
            (
                OperationError.remoteInsideStores("/s/r", "/s"),
                "name another folder with '--remote'"
            ),
            (OperationError.keepsNothing("x"), "--keep-daily 7"),
            (RestoreError.safetyBackupFailed(RemoteError.missing("x")), "--no-safety-backup"),
            (RestoreError.storesInUse(store: "a", by: []), "--force"),
            (
                ExtractError.ofAnotherState("/s/a-wal", beside: try! RelativePath("a")),
                "mv /s/a-wal /s/a-wal.old"
            ),
            (
                RestoreError.mountInside("/s/m"),
                "umount /s/m; or restore elsewhere with '--target'"
            ),
            (
                RestoreError.refusedInUse(
                    backup: "a",
                    "/s",
                    refusal: nil,
                    use: StoreError.busy("a")
                ), "such as 'grocerydude list'"
            ),
            (BackupFolderError.noBackup("a", address: "/r"), "grocerydude list'"),
            (BackupFolderError.noBackups("/r"), "grocerydude backup'"),
            (BackupFolderError.notInTrash("a", address: "/r"), "grocerydude list --trash'"),
            (BackupFolderError.pinned("a"), "run 'grocerydude pin --off a' first"),
            (
                BackupFolderError.pinned("a b"), #"run "grocerydude pin --off 'a b'" first"#
            ),
            (BackupFolderError.taken("a", address: "/r"), "--same-name replace"),
            (MovingError.damaged("a", reason: "x"), "--allow-damaged"),
            (
                ArchivedBackupError.beyondLimit("a", reason: "x", .ratio),
                "with '--set limits.ratio=N'"
            ),
            (ArchiveError.damaged("a", reason: "x"), "grocerydude list' and try an older backup"),
            (StoreError.damaged("a", reason: "x"), "grocerydude restore'"),
            (
                RestoreError.restoreFailed(StoreError.damaged("a", reason: "x")),
                "--allow-damaged"
            ),
            (CopyStoresError.damaged("/a", reason: "x"), "name an older place"),
            (FileError.failed(.move, "a", .resourceBusy), "restore NAME --target DIR"),
            (FileError.failed(.move, "a", .improperLink), "restore NAME --target DIR"),
            (FileError.locked("a", holder: nil), "--lock-wait 60s"),
            (RemoteError.notAFolder("/r"), "--remote"),
            (RemoteError.noFile("/r", name: "a"), "grocerydude list'"),
            (SampleError.exists("a"), "grocerydude sample'"),
            (SampleError.missing("a"), "--stores DIR"),
            (SampleError.noItem("a"), "grocerydude sample'"),
            (SampleError.badItems("a", reason: "x"), "grocerydude sample export'"),
            (CopyStoresError.inside("/a/b", "/a"), "'--stores'"),
            (SyncError.noStore("a", in: "/s"), "--store NAME"),
            (SyncError.notEnabled("a"), "grocerydude sync enable"),
            (SyncError.noContainerNamed, "--container FOLDER"),
            (
                SyncError.refused(
                    store: "a",
                    [.collation(table: "t", column: nil, collation: "c")]
                ), "--map FILE"
            ),
            (SyncError.openStore("a", rows: 1, by: []), "--set sync.while_open=true"),
            (SyncError.lockedStores("/s", rows: 1, by: nil), "--lock-wait"),
            (SyncError.nothingBefore(store: "a"), "--as-before"),
            (SyncError.noConflict(1, store: "a"), "grocerydude sync conflicts'"),
            (SyncError.noDevice("d", []), "grocerydude sync status'"),
            (SyncError.noContainer("/c", unsent: 0), "grocerydude sync seed'"),
            (
                SyncError.alreadyEnabled(store: "a", group: "g", container: "/c"),
                "grocerydude sync disable'"
            ),
            (SyncDecision.manyGone(table: "t", rows: 20, of: 30), "--accept-changes"),
            (SyncDecision.otherGroup("g"), "grocerydude sync rejoin --take merge'"),
            (SyncDecision.otherContainer("/b", was: "/a"), "name '/a' again"),
            (CommandError.notAReport("/s/a.db"), "name another file: grocerydude report"),
            (KeyError.passwordsDiffer, "type the same password twice"),
            (KeyError.badFile("/k", .badIdentity(reason: "x")), "grocerydude key generate'"),
            (KeyError.badFile("/k", .badHeader("/k", reason: "x")), "grocerydude key generate'"),
            (SidecarError.damaged("/d/sync.sqlite", reason: "x"), "move '/d' away"),
        ] as [(any Error & Sendable, String)]
    )
    func commands(_ error: any Error & Sendable, _ advice: String) {
        #expect(Hint.after(error)?.contains(advice) == true, "\(Hint.after(error) ?? "none")")
    }

    @Test("A hint for an error with a cause is the hint for the cause")
    func causes() {
        let locked = FileError.locked("a", holder: nil)
        let advice = Hint.after(locked)
        #expect(Hint.after(OperationError.backupFailed(locked)) == advice)
        #expect(Hint.after(RestoreError.restoreFailed(locked)) == advice)
        #expect(Hint.after(RestoreError.rolledBack(locked, refused: "b")) == advice)
        let unsettled = RestoreError.unsettled(backup: "a", "/s", locked)
        #expect(Hint.after(unsettled)?.hasPrefix("\(advice ?? ""), then") == true)
        let exists = FileError.exists("a")
        #expect(Hint.after(RestoreError.restoreFailed(exists))?.contains("another backup") == true)
    }

    @Test("A hint in words is the hint of the error itself")
    func words() {
        let full = FileError.failed(.write, "/disk/a", .noSpace)
        #expect(Hint.after(full) == full.hint)
        #expect(Hint.after(FileError.exists("a")) == nil)
        #expect(Hint.after(CancellationError()) == nil)
    }

    @Test("A hint about a much smaller backup names the option that accepts it")
    func anomaly() {
        let anomaly = Problem(kind: .anomaly, path: ".", reason: "much less than before")
        #expect(anomaly.hint?.contains("--accept-changes") == true)
        #expect(Problem(kind: .unreadable, path: "a", reason: "no").hint == nil)
    }

    private static let names = [
        "[2026-Nov-21] 09.01 AM (2)", "x'; touch RAN; '", "x; touch RAN; ", "$(touch RAN)",
        "`touch RAN`", "a | touch RAN", "& touch RAN &", "a\ntouch RAN\n", "a\"; touch RAN; \"",
        "\\'; touch RAN; \\'", "> RAN", "-x; touch RAN", "--yes", "~root", "*", "!!", "#a", "ü é",
        "a\u{202E}b\u{9B}\u{1B}[31m", "", "a:b",
    ]

    @Test(
        "A hint quotes each name as one word of a command, even if the quotes around it are copied",
        .enabled(if: Tool.isInstalled("bash"), "bash is not installed"),
        arguments: names
    )
    func oneWord(_ name: String) throws {
        let sandbox = try Sandbox()
        func run(_ command: String) throws -> Tool.Outcome {
            let stub = "grocerydude() { printf '%s\\0' \"$@\"; }"
            return try Tool.run("bash", ["-c", "\(stub); \(command)"], directory: sandbox.path)
        }
        let hints =
            [
                (BackupFolderError.pinned(name), "run ", " first"),
                (BackupFolderError.unknownUndo("a", [name]), "name the right one: ", ""),
                (MovingError.needsTrashed("a", need: name), "run ", " first"),
            ] as [(any Error, String, String)]
        for (error, start, end) in hints {
            let hint = try #require(Hint.after(error))
            #expect(hint.hasPrefix(start) && hint.hasSuffix(end))
            #expect(hint.unicodeScalars.allSatisfy { $0.isPrintable })
            let shown = String(hint.dropFirst(start.count).dropLast(end.count))
            let command = end.isEmpty ? shown : String(shown.dropFirst().dropLast())
            #expect(end.isEmpty || shown == Advice.quoted(command))
            let words = try run(command).text.split(
                separator: "\0",
                omittingEmptySubsequences: false
            )
            #expect(words.dropLast().last.map(String.init) == name, "\(command)")
            let count = command.hasPrefix("grocerydude pin --off ") ? 4 : 3
            #expect(words.count == (name.hasPrefix("-") ? count + 1 : count), "\(command)")
            _ = try run(Advice.quoted(command))
        }
        let option = try run("grocerydude \(Advice.option("store", name))").text
        let joined = option.replacing("--store=", with: "--store\0")
        #expect(joined == "--store\0\(name)\0")
        if !name.isEmpty {
            let path = FilePath(name)
            #expect(try run("grocerydude \(shellWord(path))").text.hasSuffix("\(name)\0"))
        }
        #expect(!sandbox.exists("RAN"))
    }

    @Test("A command with the places of the run has no quotes of the kind that it stands in")
    func places() {
        var places = HintedPlaces()
        places.add("stores", "/s")
        let list = places.applied(to: "run 'grocerydude list'")
        #expect(list == "run 'grocerydude list --stores /s'")
        places.add("remote", "/a b")
        let text = "see 'grocerydude list', or run: grocerydude show 'a b' --stores /s"
        #expect(
            places.applied(to: text)
                == #"see "grocerydude list --stores /s --remote '/a b'", or run: grocerydude show --remote '/a b' 'a b' --stores /s"#
        )
        let quoted = Advice.quoted("grocerydude pin --off 'a b'")
        #expect(
            places.applied(to: "run \(quoted) first")
                == #"run "grocerydude pin --stores /s --remote '/a b' --off 'a b'" first"#
        )
    }

    @Test(
        "A hint quotes a path of any bytes as one word",
        .enabled(if: Tool.isInstalled("bash"), "bash is not installed")
    )
    func bytes() throws {
        let bytes: [UInt8] = [0x61, 0xFF, 0x27, 0x20, 0x3B, 0x0A, 0xC3]
        let command = "printf '%s' \(shellWord(bytes: bytes))"
        #expect(try Tool.run("bash", ["-c", command]).output == bytes)
    }

    @Test("A hint moves a path away to a name that nothing has")
    func movingAway() throws {
        let sandbox = try Sandbox()
        let path = sandbox.path("a b")
        #expect(moveAway(path) == "mv '\(path)' '\(path).old'")
        try sandbox.write("mine", to: "a b.old")
        #expect(moveAway(path) == "mv '\(path)' '\(path).old2'")
    }
}
