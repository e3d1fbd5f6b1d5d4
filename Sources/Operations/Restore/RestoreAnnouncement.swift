internal import Files
internal import Foundation
public import SystemPackage

/// A notification to an application that its stores were replaced, so that it opens them again.
public struct RestoreAnnouncement: Sendable, Equatable {
    /// The signals to send.
    public var signals: [ApplicationSignal] = []
    /// A file that the application watches; it is replaced after each restore.
    public var generationFile: FilePath?

    public init() {}

    /// The content of the file that an application watches.
    private struct Generation: Codable {
        /// A number that rises by one with every restore.
        var generation: Int
        var backup: String
    }

    private static let sizeLimit: Int64 = 64 << 10

    /// Writes the file and sends the signals; a failure of one does not stop the others, and is reported.
    ///
    /// - Parameters:
    ///   - backup: the backup's name.
    ///   - live: the stores directory; the file must be outside, because the next restore would remove it.
    ///   - context: the receiver of failure reports.
    /// - Returns: whether everything succeeded.
    @discardableResult
    func make(of backup: String, in live: FilePath, _ context: OperationContext) -> Bool {
        var isDone = true
        func attempt(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                context.warn("the application was not notified of the restore: \(explain(error))")
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
        // An invalid file is truncated or another program's: the count starts again.
        let old = (try? File.contents(of: path, limit: sizeLimit)).flatMap {
            try? JSONDecoder().decode(Generation.self, from: Data($0))
        }
        let new = Generation(
            generation: max(0, old?.generation ?? 0).addingReportingOverflow(1).partialValue,
            backup: backup
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = Array(try encoder.encode(new))
        try LocalFileSystem().write(bytes, over: path, beginning: "{\"", outside: live)
    }
}

extension LocalFileSystem {
    /// Writes a small file that programs of other users read, unless there is a file of another kind, or the file
    /// would be in the stores directory.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - path: the file.
    ///   - beginning: the text with which each such file begins.
    ///   - stores: the stores directory.
    /// - Throws: `AnnouncementError.fileInStores`, `.otherFile`; `FileError`.
    func write(
        _ bytes: [UInt8],
        over path: FilePath,
        beginning: String,
        outside stores: FilePath
    ) throws {
        let directory = path.removingLastComponent()
        guard try !(directory.isEmpty ? "." : directory).resolved().starts(with: stores) else {
            throw AnnouncementError.fileInStores(path)
        }
        if let info = try FileInfo.ifPresent(path) {
            guard info.kind == .file, try File.open(path).isEmpty(orBeginsWith: beginning) else {
                throw AnnouncementError.otherFile(path)
            }
        }
        try write(bytes, to: path, mode: 0o644)
    }
}

/// An error that keeps an application from being notified of a restore, or others from reading of a run.
enum AnnouncementError: ExplainedError {
    /// The file would be in the stores directory.
    case fileInStores(FilePath)
    /// A file of another kind is there.
    case otherFile(FilePath)
    /// The file contains no process number.
    case noProcess(FilePath)
    case notSignalled(Int32, Errno)

    var description: String {
        switch self {
        case .fileInStores(let path):
            "'\(printable(path))' is in the stores directory, and would be lost with the next restore"
        case .otherFile(let path): "'\(printable(path))' is a file of another program"
        case .noProcess(let path): "'\(printable(path))' contains no process number"
        case .notSignalled(let process, let error): "cannot signal process \(process): \(error)"
        }
    }

    var hint: String? {
        switch self {
        case .fileInStores: "name a file outside of it"
        case .otherFile: "name another file"
        case .noProcess, .notSignalled: nil
        }
    }
}
