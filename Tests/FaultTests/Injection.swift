import Files
import Foundation
import SystemPackage
import TestSupport

/// The faults of one run of the program, put there by the FaultInjector.
struct Injection: Sendable {
    /// A kernel or a file system without some of renameat2(2).
    enum Refusal: String, Sendable, CaseIterable {
        /// Names cannot be exchanged.
        case exchange
        /// Nor renamed without replacing.
        case flags
    }

    /// A call, by its number, that fails with an error number.
    struct Failure: Sendable, Equatable {
        var call: Int
        var errno: Errno
    }

    /// The call at which the program is killed.
    var kill: Int?
    /// Calls that fail, once each.
    var failures: [Failure] = []
    /// Signals that come when a call is about to be made: two at most.
    var signals: [(call: Int, number: Int32)] = []
    /// The call from which on every change fails.
    var deadFrom: Failure?
    var refusal: (what: Refusal, errno: Errno)?

    fileprivate var options: [String] {
        var options: [String] = []
        if let kill { options += ["--kill", "\(kill)"] }
        for failure in failures {
            options += ["--fail", "\(failure.call)", "\(failure.errno.rawValue)"]
        }
        for signal in signals { options += ["--signal", "\(signal.call)", "\(signal.number)"] }
        if let deadFrom {
            options += ["--fail-from", "\(deadFrom.call)", "\(deadFrom.errno.rawValue)"]
        }
        if let refusal {
            options += ["--refuse", refusal.what.rawValue, "\(refusal.errno.rawValue)"]
        }
        return options
    }
}

/// A system call that the program made, or was kept from making.
struct SystemCall: Sendable, CustomStringConvertible {
    /// Counted over all threads, from 1.
    var number: Int
    var name: String
    var paths: [FilePath]
    /// Whether a fault was put there.
    var isFault: Bool

    /// Whether it changes the disk; others only open something.
    var isChange: Bool { name != "look" }

    var description: String {
        "call \(number), \(name) \(paths.map { $0.lastComponent?.string ?? "" }.joined(separator: " → "))"
    }

    /// Reads a line of the FaultInjector's log.
    fileprivate init?(_ line: Substring) {
        var fields = line.split(separator: "\t")
        guard fields.count >= 3, let number = Int(fields[0]) else { return nil }
        isFault = fields.last == "!"
        if isFault { fields.removeLast() }
        self.number = number
        name = String(fields[1])
        paths = fields[2...].map { FilePath(String($0)) }
    }
}

/// A run of the program under the FaultInjector.
struct InjectedRun: Sendable {
    var outcome: Tool.Outcome
    var calls: [SystemCall]

    /// The calls at which a fault was put.
    var faults: [SystemCall] { calls.filter(\.isFault) }
    var changes: [SystemCall] { calls.filter(\.isChange) }

    /// Whether the FaultInjector works here: it needs Linux, and to be allowed ptrace(2).
    static let isPossible: Bool = {
        guard let sandbox = try? Sandbox(),
            let run = try? InjectedRun("/bin/true", below: sandbox.path, log: sandbox.path("log"))
        else { return false }
        return run.outcome.status == 0
    }()

    init(
        _ program: String = Tool.product("grocerydude"),
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        below directory: FilePath,
        log: FilePath,
        through prefix: [String] = [],
        injecting injection: Injection = Injection()
    ) throws {
        let command =
            prefix + [
                Tool.product("FaultInjector"), "--log", log.string, "--below", directory.string,
            ] + injection.options + [program] + arguments
        outcome = try Tool.run(
            command[0],
            Array(command.dropFirst()),
            environment: environment,
            timeout: .seconds(60)
        )
        calls = try String(contentsOfFile: log.string, encoding: .utf8).split(separator: "\n")
            .compactMap(SystemCall.init)
    }
}
