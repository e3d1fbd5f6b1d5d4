import Foundation
import TestSupport

/// A pseudo-terminal on which a program asks questions, and somebody answers them.
enum Terminal {
    static var isThere: Bool { Tool.isInstalled("python3") }

    /// Waits for a line without an end, which is a question, before each answer.
    private static let script = """
        import json, os, pty, sys
        answers, command = json.loads(sys.argv[1]), sys.argv[2:]
        child, terminal = pty.fork()
        if child == 0:
            os.execv(command[0], command)
        seen, asked = b"", 0
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
            line = seen[asked:].rsplit(b"\\n", 1)[-1]
            if answers and line.rstrip(b" ").endswith((b"]", b"?", b">")):
                asked = len(seen)
                answer = answers.pop(0).encode()
                # After Ctrl-C, the end of a line could be read before the signal arrives; Ctrl-D ends the input.
                os.write(terminal, answer if answer in (b"\\x03", b"\\x04") else answer + b"\\n")
        sys.stdout.buffer.write(seen.replace(b"\\r\\n", b"\\n"))
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """

    /// Runs a program with a terminal as its standard input, output and error.
    ///
    /// - Parameters:
    ///   - command: its path and its arguments.
    ///   - answers: the lines that are typed, each after a question; Ctrl-C and Ctrl-D are typed alone.
    ///   - program: whose environment and directory it has.
    ///   - environment: the variables that are added to it.
    /// - Returns: its exit code, and as its output everything that the terminal showed.
    /// - Throws: `Tool.Failure`.
    static func run(
        _ command: [String],
        answering answers: [String],
        _ program: Program,
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        let lines = String(
            decoding: try JSONSerialization.data(withJSONObject: answers),
            as: UTF8.self
        )
        return try Tool.run(
            "python3",
            ["-c", script, lines] + command,
            environment: program.environment.merging(environment) { $1 },
            directory: program.sandbox.path
        )
    }
}
