public import Backups
internal import Files
public import Foundation
public import Remotes
internal import SystemPackage

/// Checks whether a folder can hold backups, in the order in which a person would check.
///
/// It writes, lists, reads back, renames and deletes a small hidden file. If a run is killed meanwhile, the file
/// remains like a partial upload, and is removed with those.
public struct ProbeFolder: Sendable {
    /// The checks.
    public enum Step: String, Sendable, CaseIterable {
        case rclone, remote, folder, writable, clock, space
    }

    /// The result of one step.
    public struct Finding: Sendable {
        public var step: Step
        /// The state as text.
        public var what: String
        /// Whether the state deserves a warning.
        public var isDoubtful = false
        /// The reason why the folder cannot hold backups; the later checks were not made then.
        public var error: (any Error)?
    }

    /// The results, in order.
    public struct Outcome: Sendable {
        public var findings: [Finding] = []
        public var facts = FolderFacts()

        /// The reason why the folder cannot hold backups; `nil` if it can.
        public var error: (any Error)? { findings.lazy.compactMap(\.error).first }
    }

    /// The tolerated difference between clocks, in seconds.
    ///
    /// The clocks of several machines always differ; beyond this difference, names and ages are misleading.
    private static let clockTolerance: TimeInterval = 60

    private let folder: BackupFolder
    private let now: Date
    private let start = ContinuousClock.now
    private let context: OperationContext

    public init(_ folder: BackupFolder, now: Date, context: OperationContext) {
        self.folder = folder
        self.now = now
        self.context = context
    }

    /// Creates the folder if it is missing.
    ///
    /// - Throws: `LinkError`, `RemoteError`.
    public func make() async throws {
        do {
            try await folder.remote.make()
        } catch let error as RemoteError where error == .noRclone(folder.address) {
            throw error
        } catch {
            throw explained(error, "make")
        }
    }

    /// Makes all checks until one fails.
    ///
    /// - Returns: the findings.
    /// - Throws: `CancellationError`; `FileError.locked` if another run uses the folder.
    public func run() async throws -> Outcome {
        var outcome = Outcome()
        do {
            let backups = try await reach(&outcome)
            let listed = try await context.withLock(folder) { try await write() }
            let done = "a file was written, listed, read back, renamed and deleted"
            outcome.findings.append(Finding(step: .writable, what: done))
            outcome.findings.append(compareClocks(listed))
            outcome.facts = try await FolderFacts(of: folder)
            let largest = backups.map(\.size).max() ?? 0
            outcome.findings.append(judge(outcome.facts.space, against: largest))
        } catch FileError.locked(let path, let holder) {
            throw FileError.locked(path, holder: holder)
        } catch let error as CancellationError {
            throw error
        } catch let failure as Failure {
            outcome.findings.append(
                Finding(step: failure.step, what: explain(failure.error), error: failure.error)
            )
        }
        return outcome
    }

    /// An error, and the check that it ended.
    private struct Failure: Error {
        var step: Step
        var error: any Error
    }

    private func reach(_ outcome: inout Outcome) async throws -> [Backup] {
        let service = folder.remote.service
        if let service {
            do {
                let version = try await service.version()
                outcome.findings.append(Finding(step: .rclone, what: version))
            } catch {
                throw Failure(step: .rclone, error: error)
            }
        }
        let backups: [Backup]
        do {
            backups = try await folder.list().backups
        } catch let error as RemoteError {
            guard service != nil, Self.isOfRclone(error) else {
                if service != nil { outcome.findings.append(reached) }
                throw Failure(step: .folder, error: error)
            }
            throw Failure(step: .remote, error: explained(error, "reach"))
        } catch {
            throw Failure(step: .folder, error: explained(error, "list"))
        }
        if service != nil { outcome.findings.append(reached) }
        let count = counted(backups.count, "backup is", "backups are")
        outcome.findings.append(Finding(step: .folder, what: "\(count) in it"))
        return backups
    }

    private var reached: Finding {
        let name = folder.remote.service?.remoteName
        return Finding(step: .remote, what: name.map { "'\($0)' answers" } ?? "it answers")
    }

    /// Returns an error for a remote that is not configured, else one that names the failed step.
    ///
    /// Failures of rclone itself, and of the connection, need no explanation.
    private func explained(_ error: any Error, _ doing: String) -> any Error {
        if case RemoteError.noRemote = error, let name = folder.remote.service?.remoteName {
            return LinkError.notConfigured(name)
        }
        if let error = error as? RemoteError, Self.isOfRclone(error) { return error }
        return LinkError.cannot(doing: doing, address: folder.address, error)
    }

    /// Whether the remote as a whole failed, not the folder.
    private static func isOfRclone(_ error: RemoteError) -> Bool {
        if case .rclone = error { return true }
        return error.isOfConnection
    }

    // MARK: - Writing

    /// Writes, lists, reads back, renames and deletes a file.
    ///
    /// - Returns: the file as it was listed, and the time when it was written.
    /// - Throws: `Failure`.
    private func write() async throws -> (file: RemoteFile, written: Date) {
        let remote = folder.remote
        let names = (PartialName.make(), PartialName.make())
        let bytes = (0..<256).map { _ in UInt8.random(in: .min ... .max) }
        do {
            let scratch = try ScratchDirectory(in: folder.staging)
            let draft = folder.staging.appending(PartialName.make())
            try await step("write a file into") {
                do {
                    try make(draft, bytes)
                    try await remote.upload(draft, as: names.0)
                } catch {
                    try? LocalFileSystem().remove(draft)
                    throw error
                }
            }
            let written = now + Double(start.duration(to: .now).components.seconds)
            let listed = try await step("list") { try await find(names.0, after: "written") }
            try await step("read a file from") {
                let copy = scratch.path.appending("copy")
                try await remote.download(names.0, to: copy)
                guard try File.contents(of: copy, limit: 1 << 16) == bytes else {
                    throw LinkError.changed(folder.address)
                }
            }
            try await step("rename a file in") {
                try await remote.move(names.0, to: remote, as: names.1)
                _ = try await find(names.1, after: "renamed")
            }
            try await step("delete a file in") {
                try await remote.delete(names.1)
                guard try await !remote.list().contains(where: { $0.name.exact == names.1.exact })
                else {
                    throw LinkError.listedWrong(folder.address, after: "deleted")
                }
            }
            return (listed, written)
        } catch {
            for name in [names.0, names.1] { try? await remote.delete(name) }
            if error is CancellationError { throw error }
            throw Failure(step: .writable, error: error)
        }
    }

    /// Creates the file.
    ///
    /// Its special time shows whether the remote keeps the times of files.
    private func make(_ path: FilePath, _ bytes: [UInt8]) throws {
        let file = try File.create(path)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.sync()
        guard folder.remote.service != nil else { return }
        try file.setModified(Self.givenTime * 1_000_000_000)
    }

    /// 2001-09-09 01:46:40 UTC, in seconds since 1970.
    private static let givenTime: Int64 = 1_000_000_000

    private func find(_ name: String, after step: String) async throws -> RemoteFile {
        guard
            let file = try await folder.remote.list().first(where: { $0.name.exact == name.exact })
        else {
            throw LinkError.listedWrong(folder.address, after: step)
        }
        return file
    }

    private func step<Result>(
        _ doing: String,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try context.checkCancellation()
        do {
            return try await body()
        } catch let error where error is LinkError || error is CancellationError {
            throw error
        } catch {
            throw LinkError.cannot(doing: doing, address: folder.address, error)
        }
    }

    // MARK: - Clock and space

    private func compareClocks(_ probe: (file: RemoteFile, written: Date)) -> Finding {
        let given = Date(timeIntervalSince1970: Double(Self.givenTime))
        guard let modified = probe.file.modified, abs(modified.timeIntervalSince(given)) > 3600
        else { return Finding(step: .clock, what: "the server reports no time") }
        let difference = modified.timeIntervalSince(probe.written)
        guard abs(difference) > Self.clockTolerance else {
            return Finding(step: .clock, what: "it agrees with this machine's")
        }
        let seconds = Int64(abs(difference))
        let what = "it is \(seconds) s \(difference > 0 ? "ahead of" : "behind") this machine's"
        return Finding(step: .clock, what: what, isDoubtful: true)
    }

    private func judge(_ space: RemoteSpace?, against largest: Int64) -> Finding {
        guard let space, let free = space.free ?? space.left else {
            return Finding(step: .space, what: "it does not say")
        }
        let isEnough = free > largest
        let what = "\(byteCount(free)) free"
        return Finding(
            step: .space,
            what: isEnough ? what : "\(what), less than the largest backup there takes",
            isDoubtful: !isEnough
        )
    }
}

extension RemoteSpace {
    /// The number of bytes that are neither used nor reported as free.
    fileprivate var left: Int64? {
        guard let total, let used else { return nil }
        return max(0, total - used)
    }
}

/// The account and the space of a remote folder, if the remote reports them.
public struct FolderFacts: Sendable, Equatable {
    public var account: String?
    public var space: RemoteSpace?

    public init() {}

    /// Asks the remote for the facts; those that it does not report stay `nil`.
    ///
    /// - Throws: `CancellationError`.
    public init(of folder: BackupFolder) async throws {
        if let service = folder.remote.service {
            async let account = service.account()
            space = try await service.space()
            self.account = try await account
        } else if let directory = folder.remote.directory,
            let free = try? Directory.open(directory).availableSpace()
        {
            space = RemoteSpace(free: free)
        }
    }
}
