@testable import Backups
import Files
import Foundation
import Operations
import Remotes
import History
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// The surroundings of a run, with real commands.
@Suite("Run")
struct RunTests {
    let scene: Scene
    let log: RunLog

    init() throws {
        scene = try Scene(withStore: false)
        log = RunLog(scene.sandbox.path("State/log.sqlite"))
    }

    private func makeRun(_ commands: [Hooks.Moment: [String]]) -> Run {
        var run = Run(
            .backup,
            stores: scene.stores,
            remote: scene.remote.address,
            began: Scene.morning
        )
        run.profile = "photos"
        run.hooks = Hooks(commands: commands)
        run.log = log
        return run
    }

    private static var good: CommandResult {
        var result = CommandResult(exitCode: 0)
        result.backup = "a Stores.zip"
        return result
    }

    private static var declined: CommandResult {
        var result = CommandResult(exitCode: 1)
        result.isDeclined = true
        return result
    }

    /// Runs it.
    ///
    /// - Returns: what the error of `before` was, if there was one, and whether the work was done.
    private func perform(
        _ run: Run,
        context: OperationContext? = nil,
        _ result: CommandResult = good
    ) async -> (error: (any Error)?, isDone: Bool) {
        var error: (any Error)?
        var isDone = false
        let ending = await run.perform(
            context ?? scene.context(),
            backups: { [] },
            failure: { failure in
                error = failure
                if case HookError.skipped = failure { return CommandResult(exitCode: 75) }
                return CommandResult(exitCode: 1, message: explain(failure))
            },
            work: {
                isDone = true
                return result
            }
        )
        if isDone { #expect(ending == result) }
        return (error, isDone)
    }

    /// Commands for all moments that write down that they ran, and what was passed to them.
    private var diary: [Hooks.Moment: [String]] {
        let line =
            #"echo "$GROCERYDUDE_EVENT:${GROCERYDUDE_EXIT_CODE-}:${GROCERYDUDE_BACKUP-}" >>'\#(diaryPath)'"#
        return Dictionary(uniqueKeysWithValues: Hooks.Moment.allCases.map { ($0, [line]) })
    }

    private var diaryPath: FilePath { scene.sandbox.path("diary") }

    private func entries() throws -> [String] {
        guard scene.sandbox.exists("diary") else { return [] }
        return String(decoding: try scene.sandbox.read("diary"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test("runs the commands in their order, and passes them how it went")
    func order() async throws {
        #expect(await perform(makeRun(diary)).isDone)
        #expect(
            try entries() == [
                "before::", "after:0:a Stores.zip", "on_success:0:a Stores.zip",
                "finally:0:a Stores.zip",
            ]
        )
        try scene.sandbox.write("", to: "diary")
        _ = await perform(makeRun(diary), CommandResult(exitCode: 3, message: "in part"))
        #expect(try entries() == ["before::", "after:3:", "on_failure:3:", "finally:3:"])
        try scene.sandbox.write("", to: "diary")
        // A person said no: nothing to report, but what was begun ends.
        _ = await perform(makeRun(diary), Self.declined)
        #expect(try entries() == ["before::", "after::", "finally::"])
        #expect(try log.entries().map(\.exitCode) == [3, 0])
    }

    @Test("passes its commands where, what and why")
    func environment() async throws {
        let line = """
            printf '%s|' "$GROCERYDUDE_COMMAND" "$GROCERYDUDE_PROFILE" "$GROCERYDUDE_STORES" \
            "$GROCERYDUDE_REMOTE" "$GROCERYDUDE_ERROR" >'\(diaryPath)'
            """
        _ = await perform(
            makeRun([.onFailure: [line]]),
            CommandResult(exitCode: 1, message: "no 'x'\nand \0 NUL")
        )
        #expect(
            try entries() == [
                "backup|photos|\(scene.stores)|\(scene.remotePath)|no 'x'\\nand \\u{0} NUL|"
            ]
        )
    }

    @Test("is skipped by a before command that exits with 75, which is reported to nobody")
    func skips() async throws {
        var run = makeRun(diary)
        run.hooks.commands[.before] = ["exit 75", "echo never >>'\(diaryPath)'"]
        run.ping = Ping("http://127.0.0.1:9/")
        run.metricsFile = scene.sandbox.path("metrics.prom")
        let (error, isDone) = await perform(run)
        #expect(!isDone)
        #expect(
            error.map(explain) == "skipped: the 'before' command 'exit 75' exited with 75"
        )
        #expect(try entries() == ["finally:75:"])
        #expect(!scene.sandbox.exists("metrics.prom"))
        #expect(scene.told == [])
        #expect(try log.entries().map(\.exitCode) == [75])
    }

    @Test("fails with a before command that fails, and does nothing")
    func beforeFails() async throws {
        var run = makeRun(diary)
        run.hooks.commands[.before] = ["echo one; echo the reason >&2; exit 7"]
        let (error, isDone) = await perform(run)
        #expect(!isDone)
        #expect(
            error.map(explain)
                == "the 'before' command 'echo one; echo the reason >&2; exit 7' exited with 7: the reason"
        )
        #expect(try entries() == ["on_failure:1:", "finally:1:"])
        #expect(try log.entries().first?.message?.contains("the reason") == true)
    }

    @Test(
        "fails with a before command that hangs or is killed",
        arguments: [
            ("sleep 6000", "took longer than 0 s and was ended"),
            ("kill -KILL $$", "was ended by signal 9"),
        ]
    )
    func beforeHangs(line: String, reason: String) async throws {
        var run = makeRun([.before: [line]])
        if line.hasPrefix("sleep") { run.hooks.timeout = .milliseconds(200) }
        let (error, isDone) = await perform(run)
        #expect(!isDone)
        #expect(error.map(explain)?.hasSuffix(reason) == true)
    }

    @Test("warns of later commands that fail, runs all the others, and keeps its result")
    func laterFails() async throws {
        var run = makeRun(diary)
        run.hooks.commands[.after] = ["exit 75", "exit 2"]
        run.hooks.commands[.onSuccess] = ["sleep 6000"]
        run.hooks.timeout = .milliseconds(400)
        _ = await perform(run)
        #expect(try entries().last == "finally:0:a Stores.zip")
        #expect(
            scene.told == [
                "warning: the 'after' command 'exit 75' exited with 75",
                "warning: the 'after' command 'exit 2' exited with 2",
                "warning: the 'on_success' command 'sleep 6000' took longer than 0 s and was ended",
            ]
        )
        #expect(try log.entries().map(\.exitCode) == [0])
    }

    @Test("shows what its commands write, line by line, and not without end")
    func output() async throws {
        let flood = "i=0; while [ $i -lt 1500 ]; do i=$((i+1)); echo $i; done"
        let line = #"printf 'a\033[2Jb\n\n'; printf 'no end'"#
        _ = await perform(makeRun([.before: [line, flood]]))
        #expect(scene.said.prefix(2) == ["before: a\\u{1b}[2Jb", "before: no end"])
        #expect(scene.said.count == 2 + 1000 + 1)
        #expect(scene.said.last == "before: (more than that is not shown)")
    }

    @Test("does not wait for what a command leaves in the background, and says so")
    func background() async throws {
        _ = await perform(makeRun([.after: ["sleep 6000 & echo $! >'\(diaryPath)'"]]))
        #expect(scene.told == ["'after' left a process in the background with its output open"])
        let process = try #require(Int32(entries().first ?? ""))
        #expect(kill(process, SIGKILL) == 0)
    }

    @Test("stops a before command when the user stops it, and then does nothing")
    func interruptedBefore() async throws {
        let context = scene.context(meanwhile: { [scene] in
            if !scene.said.isEmpty { throw CancellationError() }
        })
        var run = makeRun(diary)
        run.hooks.commands[.before] = ["echo ready; sleep 6000"]
        let (error, isDone) = await perform(run, context: context)
        #expect(error is CancellationError && !isDone)
        #expect(try entries() == ["on_failure:1:", "finally:1:"])
    }

    @Test("reports a run that was interrupted, and stops a later command for a later interruption")
    func interruptedLater() async throws {
        let all = scene.context(meanwhile: { throw CancellationError() })
        var run = makeRun(diary)
        run.hooks.commands[.before] = nil
        _ = await perform(run, context: all, CommandResult(exitCode: 130, message: "interrupted"))
        #expect(try entries() == ["after:130:", "on_failure:130:", "finally:130:"])
        try scene.sandbox.write("", to: "diary")
        run.hooks.commands[.after] = ["echo ready; sleep 6000"]
        let later = scene.context(meanwhile: { [scene] in
            if !scene.said.isEmpty { throw CancellationError() }
        })
        _ = await perform(run, context: later)
        #expect(try entries() == ["finally:0:a Stores.zip"])
    }

    @Test("does not fail where its log cannot be written, and says so only if asked")
    func unwritableLog() async throws {
        try scene.sandbox.write("a file", to: "State")
        var run = makeRun(diary)
        _ = await perform(run)
        #expect(try entries().last == "finally:0:a Stores.zip")
        #expect(scene.told == [])
        run.reportsLogTrouble = true
        _ = await perform(run)
        #expect(scene.told.count == 1)
        #expect(scene.told.first?.hasPrefix("warning: this run was not logged: ") == true)
    }

    @Test("puts a damaged log aside, and begins another")
    func damagedLog() async throws {
        try scene.sandbox.write("no database, no database", to: "State/log.sqlite")
        var run = makeRun([:])
        run.reportsLogTrouble = true
        _ = await perform(run)
        #expect(try log.entries().map(\.exitCode) == [0])
        #expect(scene.told.first?.contains("log.sqlite.damaged") == true)
        #expect(
            try scene.sandbox.read("State/log.sqlite.damaged")
                == Array("no database, no database".utf8)
        )
    }

    @Test("warns where the metrics file cannot be written")
    func metricsNowhere() async throws {
        var run = makeRun(diary)
        run.metricsFile = scene.sandbox.path("missing/metrics.prom")
        _ = await perform(run)
        #expect(scene.told.count == 1)
        #expect(scene.told.first?.hasPrefix("warning: the metrics were not written") == true)
        #expect(try entries().last == "finally:0:a Stores.zip")
    }
}
