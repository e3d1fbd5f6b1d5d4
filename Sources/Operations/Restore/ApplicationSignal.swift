internal import Files
internal import Foundation
public import SystemPackage

/// A signal for the process whose number is in a file, such as `HUP:/run/app.pid`.
public struct ApplicationSignal: Sendable, Equatable, CustomStringConvertible {
    private static let numbers = [
        "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "USR1": SIGUSR1, "USR2": SIGUSR2,
        "TERM": SIGTERM, "CONT": SIGCONT, "WINCH": SIGWINCH,
    ]

    /// The signal's name without `SIG`.
    public let name: String
    public let file: FilePath

    public var description: String { "\(name):\(file.string)" }

    /// Reads a name, with or without `SIG`, and a path; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        let name = parts[0].hasPrefix("SIG") ? String(parts[0].dropFirst(3)) : parts[0]
        guard Self.numbers[name] != nil else { return nil }
        (self.name, file) = (name, FilePath(parts[1]))
    }

    /// Sends the signal.
    ///
    /// - Returns: `false` if the process or the file does not exist.
    /// - Throws: `AnnouncementError`, `FileError` if the file contains no process number, or if the process may not be
    ///   signalled.
    func send() throws -> Bool {
        let bytes: [UInt8]
        do {
            bytes = try File.contents(of: file, limit: 64)
        } catch let error as FileError where error.isMissing {
            return false
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let number = text.split(whereSeparator: \.isWhitespace).first.flatMap { Int32($0) }
        // Zero and negative numbers denote process groups; 1 is the first process of the system.
        guard let process = number, process > 1, let signal = Self.numbers[name] else {
            throw AnnouncementError.noProcess(file)
        }
        if kill(process, signal) == 0 { return true }
        let error = Errno(rawValue: errno)
        if error == .noSuchProcess { return false }
        throw AnnouncementError.notSignalled(process, error)
    }
}
