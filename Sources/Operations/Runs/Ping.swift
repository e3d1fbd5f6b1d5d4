internal import Files
internal import Processes

/// Notifies a monitor of the state of a run, in the protocol of healthchecks.io and compatible services
/// (https://healthchecks.io/docs/http_api/).
public struct Ping: Sendable {
    /// The signals of the protocol.
    public enum Signal: Sendable, Equatable {
        case start
        case success
        /// A failure, with a text for the user.
        case failure(String)
    }

    /// The monitor's address; the name of a signal is added to its path.
    public var url: String
    /// The time limit for name lookup, connection and answer together.
    public var timeout: Duration
    /// The program that sends the request.
    var program = "curl"

    public init(_ url: String, timeout: Duration = .seconds(10)) {
        self.url = url
        self.timeout = timeout
    }

    /// The greatest length of a text in bytes: monitors keep some 10 or 100 kB, and a pipe holds 64 kB.
    private static let messageLimit = 8000

    /// Sends a signal to the monitor.
    ///
    /// curl gets the address and the text through a pipe: an address is as secret as a password, and everybody can see
    /// a program's arguments.
    public func send(
        _ signal: Signal,
        checkCancellation: @Sendable () throws -> Void = {}
    ) async throws {
        let curl = ChildProcess(
            program,
            [
                // Ignore the user's curl configuration, which is for other purposes.
                "--disable", "--silent", "--show-error", "--fail", "--location",
                "--proto", "=http,https", "--max-time", "\(timeout.inSeconds)",
                "--output", "/dev/null", "--config", "-",
            ],
            input: Array(configuration(for: signal).utf8)
        )
        let limits = ChildProcess.Limits(timeout: timeout + .seconds(2), grace: .seconds(1))
        let output = CommandOutput(linesLimit: 0)
        let reason: String
        do {
            let outcome = try await curl.run(limits, checkCancellation: checkCancellation) {
                _ = output.receive($0)
            }
            _ = output.finish()
            switch outcome.reason {
            case .ended(.exited(0)): return
            case .interrupted: throw CancellationError()
            case .tookTooLong: reason = "no answer"
            case .ended: reason = output.lastLine ?? "curl failed"
            }
        } catch let error as ProcessError {
            reason = error.description
        }
        throw HookError.pingFailed(host: host, reason: reason)
    }

    /// Returns the configuration for curl (https://curl.se/docs/manpage.html#-K).
    func configuration(for signal: Signal) -> String {
        switch signal {
        case .start: "url = \(Self.quoted(address("start")))\n"
        case .success: "url = \(Self.quoted(address(nil)))\n"
        case .failure(let message):
            "url = \(Self.quoted(address("fail")))\n"
                + "header = \"Content-Type: text/plain; charset=utf-8\"\n"
                + "data-raw = \(Self.quoted(Self.shortened(message)))\n"
        }
    }

    /// Returns the URL with a word added to its path, before a query.
    private func address(_ word: String?) -> String {
        guard let word else { return url }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        return path + (path.hasSuffix("/") ? "" : "/") + word + url.dropFirst(path.count)
    }

    private static func shortened(_ text: String) -> String {
        String(decoding: text.utf8.prefix(messageLimit), as: UTF8.self)
    }

    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": quoted += "\\\\"
            case "\"": quoted += "\\\""
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\0": quoted += " "
            default: quoted.unicodeScalars.append(character)
            }
        }
        return "\"\(quoted)\""
    }

    /// The part of the URL that is not secret.
    var host: String {
        let rest = url.split(separator: "://", maxSplits: 1).last ?? ""
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(authority.split(separator: "@").last ?? authority)
    }
}
