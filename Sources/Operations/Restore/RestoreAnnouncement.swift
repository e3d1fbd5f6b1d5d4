internal import Files
internal import Foundation
public import SystemPackage

/// Word to an application that its stores were replaced, so that it opens them anew.
public struct RestoreAnnouncement: Sendable, Equatable {
    /// Signals to send.
    public var signals: [ApplicationSignal] = []
    /// A file that the application watches: it is replaced after each restore.
    public var generationFile: FilePath?

    public init() {}

    /// The content of the file that an application watches.
    private struct Generation: Codable {
        /// One more with every restore.
        var generation: Int
        var backup: String
    }

    private static let sizeLimit: Int64 = 64 << 10

    /// Writes the file and sends the signals, whatever becomes of one; failures are told.
    ///
    /// - Parameters:
    ///   - backup: the backup's name.
    ///   - live: the stores directory; a file in it would go with the next restore.
    ///   - context: told of failures.
    /// - Returns: whether all of it was done.
    @discardableResult
    func make(of backup: String, in live: FilePath, _ context: OperationContext) -> Bool {
        var isDone = true
        func attempt(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                context.warn("the application was not told of the restore: \(explain(error))")
                isDone = false
            }
        }
        if let generationFile {
            attempt { try Self.advance(generationFile, backup, outside: live) }
        }
        for signal in signals {
            attempt {
                if try !signal.send() {
                    context.note("\(signal) was not sent: the application is not running")
                }
            }
        }
        return isDone
    }

    private static func advance(
        _ path: FilePath,
        _ backup: String,
        outside live: FilePath
    ) throws {
        let directory = path.removingLastComponent()
        guard try !(directory.isEmpty ? "." : directory).resolved().starts(with: live) else {
            throw AnnouncementError.fileInStores(path)
        }
        // One that makes no sense is none of ours, or was cut off: the count begins anew.
        let old = (try? File.contents(of: path, limit: sizeLimit)).flatMap {
            try? JSONDecoder().decode(Generation.self, from: Data($0))
        }
        let new = Generation(
            generation: max(0, old?.generation ?? 0).addingReportingOverflow(1).partialValue,
            backup: backup
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The application may be another user's.
        try LocalFileSystem().write(Array(encoder.encode(new)), to: path, mode: 0o644)
    }
}

/// Why an application could not be told of a restore.
enum AnnouncementError: ExplainedError {
    /// The file would be in the stores directory.
    case fileInStores(FilePath)
    /// The file has no number of a process.
    case noProcess(FilePath)
    case notSignalled(Int32, Errno)

    var description: String {
        switch self {
        case .fileInStores(let path):
            "'\(printable(path))' is in the stores directory, and would go with the next restore"
        case .noProcess(let path): "'\(printable(path))' has no number of a process in it"
        case .notSignalled(let process, let error): "cannot signal process \(process): \(error)"
        }
    }

    var hint: String? {
        switch self {
        case .fileInStores: "name a file outside of it"
        case .noProcess, .notSignalled: nil
        }
    }
}
