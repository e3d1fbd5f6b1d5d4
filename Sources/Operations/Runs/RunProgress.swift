public import Files
internal import Foundation
public import SystemPackage

/// The progress of a run, in a small file that other runs of the same user read.
///
/// The file has the number of the process as its name. A killed run leaves it behind, so it says something only about a
/// process that still holds a lock.
public struct RunProgress: Codable, Sendable, Equatable {
    /// The maximum size of the file in bytes.
    private static let limit: Int64 = 4096

    public var stage: OperationEvent.Stage
    /// The number of bytes processed in this stage.
    public var done: Int64
    /// The size of the stage in bytes, if known.
    public var total: Int64?

    public init(stage: OperationEvent.Stage, done: Int64, total: Int64?) {
        (self.stage, self.done, self.total) = (stage, done, total)
    }

    /// Reads the progress of the process that holds a lock; `nil` if there is none.
    public init?(of holder: LockHolder, in directory: FilePath) {
        let path = Self.path(of: holder.process, in: directory)
        guard let bytes = try? File.contents(of: path, limit: Self.limit),
            let progress = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        self = progress
    }

    /// Writes the progress of this process.
    ///
    /// Losing it costs nothing, so a failure is ignored, and nothing is synced.
    public func write(to directory: FilePath) {
        guard let data = try? JSONEncoder().encode(self) else { return }
        try? LocalFileSystem().createDirectories(directory)
        let path = Self.path(of: getpid(), in: directory)
        try? data.write(to: URL(filePath: path.string), options: .atomic)
    }

    /// Removes the progress of this process.
    public static func remove(from directory: FilePath) {
        try? LocalFileSystem().remove(path(of: getpid(), in: directory))
    }

    private static func path(of process: Int32, in directory: FilePath) -> FilePath {
        directory.appending("\(process).json")
    }

    /// The stage, and its completed part in percent, in the form `uploading, 43 %`.
    public var text: String {
        guard let total, total > 0 else { return stage.rawValue }
        return "\(stage.rawValue), \(Int(min(1, max(0, Double(done) / Double(total))) * 100)) %"
    }
}
