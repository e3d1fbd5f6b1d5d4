internal import Files
internal import Foundation
internal import SystemPackage

/// A program of the system's that is run to its end.
enum SystemProgram {
    struct Outcome {
        var status: Int32
        var output: [UInt8]
        var errors: String
    }

    /// Where a program is, as a shell finds it; `nil` where it is not installed.
    static func path(of name: String) -> String? {
        (Surroundings.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
            .map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program, whatever its exit code.
    ///
    /// - Throws: `ScheduleError.noProgram` where it is not there.
    static func run(_ name: String, _ arguments: [String], input: [UInt8] = []) throws -> Outcome {
        guard let path = path(of: name) else { throw ScheduleError.noProgram(name) }
        // Files: nothing has to be drained while it runs.
        let scratch = try ScratchDirectory(in: .init(NSTemporaryDirectory()))
        let paths = ["input", "output", "errors"].map { scratch.path.appending($0) }
        for path in paths { _ = try File.create(path) }
        try Data(input).write(to: URL(fileURLWithPath: paths[0].string))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle(forReadingAtPath: paths[0].string)
        process.standardOutput = FileHandle(forWritingAtPath: paths[1].string)
        process.standardError = FileHandle(forWritingAtPath: paths[2].string)
        try process.run()
        process.waitUntilExit()
        let results = try paths.map { try Data(contentsOf: URL(fileURLWithPath: $0.string)) }
        return Outcome(
            status: process.terminationStatus,
            output: [UInt8](results[1]),
            errors: String(decoding: results[2], as: UTF8.self)
        )
    }

    /// Runs a program that has to end with 0.
    ///
    /// - Throws: `ScheduleError`.
    static func check(_ name: String, _ arguments: [String], input: [UInt8] = []) throws {
        let outcome = try run(name, arguments, input: input)
        guard outcome.status == 0 else {
            let reason = outcome.errors.split(whereSeparator: \.isNewline).joined(separator: "; ")
            throw ScheduleError.program(
                ([name] + arguments).joined(separator: " "),
                reason: reason.isEmpty ? "exit code \(outcome.status)" : reason
            )
        }
    }
}
