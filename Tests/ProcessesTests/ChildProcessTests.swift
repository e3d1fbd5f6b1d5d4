import Foundation
import Processes
import Synchronization
import TestSupport
import Testing

@Suite("ChildProcess")
struct ChildProcessTests {
    /// What a watched program wrote, and when to stop it.
    private final class Reader: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        func receive(_ more: [UInt8]) { bytes.withLock { $0 += more } }
        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
        var count: Int { bytes.withLock { $0.count } }
    }

    private static let patient = ChildProcess.Limits(timeout: .seconds(60), grace: .seconds(60))
    private static let hasty = ChildProcess.Limits(
        timeout: .milliseconds(300),
        grace: .milliseconds(200)
    )

    private func run(
        _ line: String,
        _ limits: ChildProcess.Limits = patient,
        reader: Reader = Reader(),
        checkCancellation: @Sendable () throws -> Void = {}
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.shell(line).run(limits, checkCancellation: checkCancellation) {
            reader.receive($0)
        }
    }

    @Test("A child process reports how a program ended and what it wrote to either output")
    func endings() async throws {
        let reader = Reader()
        let outcome = try await run("echo one; echo two >&2; exit 75", reader: reader)
        #expect(outcome.reason == .ended(.exited(75)))
        #expect(!outcome.leftOutputOpen)
        #expect(reader.text == "one\ntwo\n")
        #expect(try await run("kill -KILL $$").reason == .ended(.signalled(SIGKILL)))
        #expect(try await run("true").reason == .ended(.exited(0)))
    }

    @Test("A child process ends a program that takes too long")
    func hangs() async throws {
        #expect(try await run("sleep 6000", Self.hasty).reason == .tookTooLong)
    }

    @Test("A child process kills a program that ignores SIGTERM, and its background processes")
    func deaf() async throws {
        let line =
            "trap '' TERM; sh -c 'while :; do sleep 6000; done' & while :; do sleep 6000; done"
        let outcome = try await run(line, Self.hasty)
        #expect(outcome.reason == .tookTooLong)
        // They had its output open: nobody has any more.
        #expect(!outcome.leftOutputOpen)
    }

    @Test("A child process reads the last output of a program that was asked to end")
    func lastWords() async throws {
        let reader = Reader()
        let limits = ChildProcess.Limits(timeout: .milliseconds(300), grace: .seconds(60))
        // The shell answers a signal only between commands.
        let line = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done"
        #expect(try await run(line, limits, reader: reader).reason == .tookTooLong)
        // The shell may say more, of the command that it was in.
        #expect(reader.text.hasSuffix("bye\n"))
    }

    @Test("The caller can stop a child process while it runs")
    func interruption() async throws {
        let reader = Reader()
        let outcome = try await run("echo ready; sleep 6000", reader: reader) {
            if reader.text == "ready\n" { throw CancellationError() }
        }
        #expect(outcome.reason == .interrupted)
    }

    @Test("A cancelled task stops its child process")
    func cancellation() async throws {
        let task = Task { try await run("sleep 6000") }
        task.cancel()
        // A task that is cancelled early enough does not even start it.
        switch await task.result {
        case .success(let outcome): #expect(outcome.reason == .interrupted)
        case .failure(let error): #expect(error is CancellationError)
        }
    }

    @Test("A child process neither waits for nor ends what stays in the background")
    func background() async throws {
        let reader = Reader()
        let outcome = try await run("sleep 6000 & echo $!", reader: reader)
        #expect(outcome.reason == .ended(.exited(0)))
        #expect(outcome.leftOutputOpen)
        let process = try #require(Int32(reader.text.dropLast()))
        #expect(kill(process, SIGKILL) == 0)
    }

    @Test("A child process reads endless output until the time limit")
    func flood() async throws {
        let reader = Reader()
        #expect(try await run("exec yes", Self.hasty, reader: reader).reason == .tookTooLong)
        #expect(reader.count > 1 << 16)
    }

    @Test("A child process gives its program no terminal and no input")
    func input() async throws {
        #expect(try await run("cat").reason == .ended(.exited(0)))
        #expect(try await run("exec 2>&-; : </dev/tty").reason != .ended(.exited(0)))
    }

    @Test("A child process sets and removes environment variables")
    func environment() async throws {
        let reader = Reader()
        let process = ChildProcess.shell(
            #"echo "$COLOR, ${HOME-no home}""#,
            environment: ["COLOR": "gr=een\n'", "HOME": nil]
        )
        _ = try await process.run(Self.patient) { reader.receive($0) }
        #expect(reader.text == "gr=een\n', no home\n")
    }

    @Test("A child process takes input and captures both outputs separately")
    func capture() async throws {
        let process = ChildProcess(
            "sh",
            ["-c", "cat; echo no >&2; exit 3"],
            input: [0xFF, 0x00, 0x0A]
        )
        let capture = try await process.capture()
        #expect(capture.ending == .exited(3))
        #expect(capture.output == [0xFF, 0x00, 0x0A])
        #expect(capture.errors == "no\n")
    }

    @Test(
        "A child process survives a program that ignores its input, and refuses too much input"
    )
    func unreadInput() async throws {
        for _ in 0..<20 {
            let process = ChildProcess("true", input: [UInt8](repeating: 7, count: 60_000))
            #expect(try await process.capture().ending == .exited(0))
            let outcome = try await process.run(Self.patient) { _ in }
            #expect(outcome.reason == .ended(.exited(0)))
        }
        let process = ChildProcess("true", input: [UInt8](repeating: 7, count: 200_000))
        let error = await #expect(throws: ProcessError.self) { try await process.capture() }
        #expect(error?.description == "cannot run 'true': its input is larger than 64 KiB")
    }

    @Test("A child process names a program that is not installed")
    func notInstalled() async throws {
        let missing = ChildProcess("grocerydude-no-such-program")
        let error = ProcessError.notInstalled("grocerydude-no-such-program")
        #expect(error.description == "'grocerydude-no-such-program' is not installed")
        await #expect(throws: error) { try await missing.capture() }
        await #expect(throws: error) { try await missing.run(Self.patient) { _ in } }
        // What is there and cannot be run.
        await #expect(throws: ProcessError.self) {
            try await ChildProcess("/dev/null").run(Self.patient) { _ in }
        }
    }
}

@Suite("LineReader")
struct LineReaderTests {
    private func text(_ lines: [[UInt8]]) -> [String] {
        lines.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A line reader splits lines, whatever pieces they arrive in")
    func lines() {
        var reader = LineReader(limit: 8)
        #expect(text(reader.lines(Array("one\ntw".utf8))) == ["one"])
        #expect(text(reader.lines(Array("o\r\n\nthree".utf8))) == ["two", ""])
        #expect(reader.finish() == Array("three".utf8))
        #expect(reader.finish() == nil)
        #expect(text(reader.lines(Array("12345678901\n".utf8))) == ["12345678", "901"])
    }
}
