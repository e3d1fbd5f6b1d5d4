internal import Files
internal import Processes

/// A request to a web server, which curl sends.
///
/// curl gets the address and the text through a pipe: an address is as secret as a password, and everybody can see a
/// program's arguments.
struct WebRequest {
    var url: String
    /// The header lines: `Title: text`.
    var headers: [String] = []
    /// The text to post; `nil` for a request without one.
    var body: String?
    /// The time limit for name lookup, connection and answer together.
    var timeout: Duration
    /// The program that sends it.
    var program = "curl"

    /// The reason why a request failed.
    struct Failure: Error {
        var reason: String
    }

    /// Sends the request.
    ///
    /// - Throws: `Failure` unless the server accepts it; `CancellationError`.
    func send(checkCancellation: @Sendable () throws -> Void = {}) async throws {
        let curl = ChildProcess(
            program,
            [
                // Ignore the user's curl configuration, which is for other purposes.
                "--disable", "--silent", "--show-error", "--fail",
                // A text that is posted arrives only if it is posted to the new address, too.
                "--location", "--post301", "--post302", "--post303",
                "--proto", "=http,https", "--max-time", "\(timeout.inSeconds)",
                "--output", "/dev/null", "--write-out", "%{http_code}", "--config", "-",
            ],
            input: Array(configuration.utf8)
        )
        let limits = ChildProcess.Limits(timeout: timeout + .seconds(2), grace: .seconds(1))
        let (errors, code) = (CommandOutput(linesLimit: 0), CommandOutput(linesLimit: 0))
        do {
            let outcome = try await curl.run(
                limits,
                checkCancellation: checkCancellation,
                receiveErrors: { _ = errors.receive($0) },
                receive: { _ = code.receive($0) }
            )
            _ = (errors.finish(), code.finish())
            switch outcome.reason {
            case .ended(.exited(0)):
                guard code.lastLine?.hasPrefix("2") == true else {
                    throw Failure(reason: "the answer is \(code.lastLine ?? "none")")
                }
            case .interrupted: throw CancellationError()
            case .tookTooLong: throw Failure(reason: "no answer")
            case .ended: throw Failure(reason: errors.lastLine ?? "curl failed")
            }
        } catch let error as ProcessError {
            throw Failure(reason: error.description)
        }
    }

    /// The configuration for curl (https://curl.se/docs/manpage.html#-K).
    private var configuration: String {
        let lines =
            [("url", url)] + headers.map { ("header", $0) }
            + (body.map { [("data-raw", $0)] } ?? [])
        return lines.map { "\($0) = \(Self.quoted($1))\n" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = [
            "\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r", "\0": " ",
        ]
        return "\"\(text.escaped(escapes))\""
    }
}
