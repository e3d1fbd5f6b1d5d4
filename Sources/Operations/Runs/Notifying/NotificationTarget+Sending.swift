internal import Files
internal import Foundation
internal import Processes

extension NotificationTarget {
    /// Sends a message.
    ///
    /// - Parameters:
    ///   - notice: the message.
    ///   - timeout: the time limit.
    ///   - mask: the mask for the reason.
    ///   - checkCancellation: throws to interrupt it.
    /// - Returns: the reason why it did not arrive, without secrets; `nil` if it was accepted.
    func send(
        _ notice: Notice,
        timeout: Duration,
        mask: SecretMask,
        checkCancellation: @escaping @Sendable () throws -> Void
    ) async -> String? {
        do {
            switch way {
            case .mail(let address):
                // Schedulers search for programs in fewer directories than a shell.
                let programs = ["sendmail", "/usr/sbin/sendmail", "/usr/lib/sendmail"]
                let mail = Mail(to: address ?? NSUserName(), notice)
                try await run(
                    programs,
                    ["-i", "-t"],
                    input: mail.bytes,
                    timeout,
                    checkCancellation
                )
            case .desktop:
                let urgency = notice.isBad ? "critical" : "normal"
                let options = ["--app-name=grocerydude", "--urgency=\(urgency)", "--"]
                let texts = [notice.title, Self.escaped(notice.text)]
                try await run(["notify-send"], options + texts, timeout, checkCancellation)
            case .web:
                try await request(for: notice, timeout: timeout)?
                    .send(checkCancellation: checkCancellation)
            case .apprise:
                try await sendByApprise(notice, timeout, checkCancellation)
            }
            return nil
        } catch let failure as WebRequest.Failure {
            return mask(failure.reason)
        } catch {
            return mask(explain(error))
        }
    }

    /// Has apprise send a message, or sends it to a server that needs no apprise if that is not installed.
    private func sendByApprise(
        _ notice: Notice,
        _ timeout: Duration,
        _ checkCancellation: @escaping @Sendable () throws -> Void
    ) async throws {
        do {
            // The address is its configuration, which comes through a pipe, since everybody can see its arguments.
            try await run(
                ["apprise"],
                [
                    "--verbose", "--config=/dev/stdin", "--title=\(notice.title)",
                    "--body=\(notice.text)",
                ],
                input: Array("\(text)\n".utf8),
                timeout,
                checkCancellation
            )
        } catch ProcessError.notInstalled(let program) {
            guard let request = request(for: notice, timeout: timeout) else {
                throw ProcessError.notInstalled(program)
            }
            try await request.send(checkCancellation: checkCancellation)
        }
    }

    /// Runs the first program that is installed, and throws unless its exit code is 0.
    private func run(
        _ programs: [String],
        _ arguments: [String],
        input: [UInt8] = [],
        _ timeout: Duration,
        _ checkCancellation: @escaping @Sendable () throws -> Void
    ) async throws {
        let limits = ChildProcess.Limits(timeout: timeout, grace: .seconds(1))
        let output = CommandOutput(linesLimit: 0)
        for program in programs {
            let process = ChildProcess(
                program,
                arguments,
                environment: way == .desktop ? Self.desktopEnvironment : [:],
                input: input
            )
            let outcome: ChildProcess.Outcome
            do {
                outcome = try await process.run(limits, checkCancellation: checkCancellation) {
                    _ = output.receive($0)
                }
            } catch ProcessError.notInstalled where program != programs.last { continue }
            _ = output.finish()
            let name = programs[0]
            switch outcome.reason {
            case .ended(.exited(0)): return
            case .ended(.exited(let code)):
                let failure = CommandFailure.exited(code, lastLine: output.complaint)
                throw WebRequest.Failure(reason: "'\(name)' \(failure)")
            case .ended(.signalled(let number)):
                throw WebRequest.Failure(reason: "'\(name)' \(CommandFailure.signalled(number))")
            case .tookTooLong:
                throw WebRequest.Failure(reason: "'\(name)' \(CommandFailure.tookTooLong(timeout))")
            case .interrupted: throw CancellationError()
            }
        }
    }

    /// The variable for the user's session, which cron does not set.
    private static var desktopEnvironment: [String: String?] {
        let name = "DBUS_SESSION_BUS_ADDRESS"
        let socket = "/run/user/\(getuid())/bus"
        guard ProcessInfo.processInfo.environment[name]?.isEmpty != false,
            FileManager.default.fileExists(atPath: socket)
        else { return [:] }
        return [name: "unix:path=\(socket)"]
    }
}

/// A message in the form of RFC 5322.
private struct Mail {
    private let address: String
    private let notice: Notice

    init(to address: String, _ notice: Notice) { (self.address, self.notice) = (address, notice) }

    var bytes: [UInt8] {
        let headers = [
            "To: \(address)", "Subject: \(Self.encoded(notice.title))", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit",
            "Auto-Submitted: auto-generated",
        ]
        return Array((headers + ["", notice.text, ""]).joined(separator: "\n").utf8)
    }

    /// Returns a header's text, encoded as in RFC 2047 unless it is plain ASCII.
    private static func encoded(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) || text.contains("=?") else {
            return text
        }
        // An encoded word has at most 75 characters.
        var words: [String] = [""]
        for character in text {
            if words[words.count - 1].utf8.count + character.utf8.count > 42 { words.append("") }
            words[words.count - 1].append(character)
        }
        return words.map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }
            .joined(separator: "\n ")
    }
}
