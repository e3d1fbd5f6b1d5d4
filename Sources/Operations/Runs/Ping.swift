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
    public func send(
        _ signal: Signal,
        checkCancellation: @Sendable () throws -> Void = {}
    ) async throws {
        do {
            try await request(for: signal).send(checkCancellation: checkCancellation)
        } catch let failure as WebRequest.Failure {
            throw HookError.pingFailed(host: host, reason: failure.reason)
        }
    }

    private func request(for signal: Signal) -> WebRequest {
        var request = WebRequest(url: url, timeout: timeout, program: program)
        switch signal {
        case .start: request.url = address("start")
        case .success: break
        case .failure(let message):
            request.url = address("fail")
            request.headers = ["Content-Type: text/plain; charset=utf-8"]
            request.body = Self.shortened(message)
        }
        return request
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

    /// The part of the URL that is not secret.
    var host: String {
        let rest = url.split(separator: "://", maxSplits: 1).last ?? ""
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(authority.split(separator: "@").last ?? authority)
    }
}
