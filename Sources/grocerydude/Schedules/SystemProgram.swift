internal import Foundation
internal import Processes

/// A program of the system that is run to its end.
enum SystemProgram {
    /// Returns the path of a program, found as a shell does; `nil` if it is not installed.
    static func path(of name: String) -> String? {
        (ProcessEnvironment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
            .map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program, and returns any result; throws `ScheduleError.noProgram` if it is not installed.
    @discardableResult
    static func run(
        _ name: String,
        _ arguments: [String],
        input: [UInt8] = []
    ) async throws -> ChildProcess.Capture {
        guard let path = path(of: name) else { throw ScheduleError.noProgram(name) }
        return try await ChildProcess(path, arguments, input: input).capture()
    }

    /// Runs a program; throws `ScheduleError.program` unless its exit code is 0.
    static func check(_ name: String, _ arguments: [String], input: [UInt8] = []) async throws {
        let result = try await run(name, arguments, input: input)
        var reason = result.errors.split(whereSeparator: \.isNewline).joined(separator: "; ")
        switch result.ending {
        case .exited(0): return
        case .exited(let code): if reason.isEmpty { reason = "exit code \(code)" }
        case .signalled(let number): reason = "it was ended by signal \(number)"
        }
        throw ScheduleError.program(([name] + arguments).joined(separator: " "), reason: reason)
    }
}
