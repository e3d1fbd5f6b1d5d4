internal import Files
internal import Processes
internal import Synchronization
internal import SystemPackage

/// rclone (https://rclone.org) as a child process that is watched while it runs.
///
/// Not every backend of rclone obeys its timeout options, so rclone is ended if nothing moves.
public struct Rclone: Sendable {
    /// The time limit for connecting to a remote; zero for none.
    public var connectTimeout: Duration = .seconds(10)
    /// The time limit for a remote's silence; zero for none.
    public var idleTimeout: Duration = .seconds(60)
    /// The bandwidth limit, in rclone's form (https://rclone.org/docs/#bwlimit-bandwidth-spec); `nil` for none.
    public var bandwidth: String?
    /// A closure that receives events, on any thread.
    public var report: @Sendable (RemoteEvent) -> Void = { _ in }
    /// A closure that throws if the user wants to stop; called often.
    public var checkCancellation: @Sendable () throws -> Void = {}

    /// The minimum speed, in bytes per second, of a copy that the remote makes by itself.
    static let serverRate: Int64 = 10 << 20

    private static let outputLimit = 64 << 20
    /// The time that rclone has to end after it is asked to.
    private static let grace = Duration.seconds(2)
    /// The interval of rclone's progress reports.
    private static let interval = "500ms"

    // rclone's exit codes (https://rclone.org/docs/#exit-code).
    private static let directoryNotFound: CInt = 3
    private static let fileNotFound: CInt = 4

    /// The changes to rclone's environment; `nil` removes a variable.
    ///
    /// Some of rclone's own variables are not passed on.
    public var environment: [String: String?] = [:]
    /// The secret of this machine by which it recognizes its own partial uploads.
    public var machine: String?

    public init() {}

    /// One run of rclone.
    struct Job {
        /// The command and its arguments, without the options that this type adds.
        var arguments: [String]
        /// The address of the folder, for messages.
        var address: String
        /// The mask for secrets in rclone's messages.
        var mask = RcloneMask("")
        /// The name of the file, if the run is about one.
        var file: String?
        /// Whether it changes the remote.
        var isWriting = false
        /// Whether it uploads a file into a folder that was listed before.
        var isUpload = false
        /// The number of bytes that the remote may have to copy or assemble before it answers.
        var serverBytes: Int64 = 0
        /// The transfer whose progress is reported.
        var transfer: (direction: RemoteEvent.Direction, total: Int64)?
        /// The input of rclone; `nil` for none.
        var input: FileDescriptor?

        /// Creates a run from a command with options, and from its operands.
        ///
        /// An operand that begins with a hyphen is not mistaken for an option.
        init(_ command: [String], on operands: [String], of address: String) {
            arguments = command + ["--"] + operands
            self.address = address
        }
    }

    /// The result of a successful run.
    struct Outcome {
        var output: [UInt8]
        /// rclone's statistics of the run.
        var counts: RcloneLog.Counts
    }

    /// Runs rclone to the end and returns its standard output, at most 64 MiB.
    ///
    /// - Throws: `RemoteError`; the error of `checkCancellation`.
    @discardableResult
    func run(_ job: Job) async throws -> Outcome {
        let output = Mutex<[UInt8]>([])
        let counts = try await run(job) { bytes in
            output.withLock { if $0.count < Self.outputLimit { $0 += bytes } }
        }
        return Outcome(output: output.withLock(\.self), counts: counts)
    }

    /// Runs rclone to the end; `receive` gets its standard output in parts.
    ///
    /// - Throws: `RemoteError`; the error of `checkCancellation`.
    func run(
        _ job: Job,
        receive: @escaping @Sendable ([UInt8]) -> Void
    ) async throws -> RcloneLog.Counts {
        if let transfer = job.transfer {
            report(.began(transfer.direction, total: transfer.total))
        }
        let watchdog = RcloneWatchdog(self, job)
        let process = ChildProcess(
            "rclone",
            options(for: job) + job.arguments,
            environment: Self.changes(to: environment)
        )
        let outcome: ChildProcess.Outcome
        do {
            outcome = try await process.run(
                ChildProcess.Limits(timeout: .seconds(Int32.max), grace: Self.grace),
                standardInput: job.input,
                checkCancellation: watchdog.check,
                receiveErrors: watchdog.receiveLog,
                receive: {
                    watchdog.moved()
                    receive($0)
                }
            )
        } catch ProcessError.notInstalled {
            throw RemoteError.noRclone(job.address)
        }
        let log = watchdog.finish()
        switch outcome.reason {
        case .ended(.exited(0)): return log.counts
        case .ended(.exited(let code)): throw error(code, log, job)
        case .ended(.signalled(let number)):
            throw RemoteError.rclone(job.address, reason: "signal \(number) ended it")
        case .interrupted, .tookTooLong: throw watchdog.verdict ?? CancellationError()
        }
    }

    /// Returns the time limit for a run in which nothing moves.
    func patience(for job: Job) -> Duration {
        guard idleTimeout > .zero else { return .zero }
        return idleTimeout + .seconds(job.serverBytes / Self.serverRate)
    }

    private func options(for job: Job) -> [String] {
        [
            "--use-json-log", "--log-level", "DEBUG", "--stats", Self.interval,
            "--stats-log-level", "NOTICE", "--contimeout", Self.text(connectTimeout),
            "--timeout", Self.text(patience(for: job)), "--retries", "1",
            "--ask-password=false",
        ]
            + (bandwidth.map { ["--bwlimit=\($0)"] } ?? [])
            // Some backends retry silently. Dumping a request takes as much memory as the request.
            + (job.isUpload || job.input != nil ? [] : ["--dump", "headers"])
    }

    private static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
    }

    private func error(_ code: CInt, _ log: RcloneLog, _ job: Job) -> RemoteError {
        switch code {
        case Self.directoryNotFound: .missing(job.address)
        case Self.fileNotFound: .noFile(job.address, name: job.file ?? "")
        default: .said(log.reason, by: job)
        }
    }
}
