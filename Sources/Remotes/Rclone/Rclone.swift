internal import Files
internal import Processes
internal import Synchronization
internal import SystemPackage

/// rclone (https://rclone.org) as a child process that is watched while it runs.
///
/// Not every backend of rclone obeys its options for timeouts: it is ended if nothing moves.
public struct Rclone: Sendable {
    /// How long to try to reach a remote; zero is for ever.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a remote may say nothing; zero is for ever.
    public var idleTimeout: Duration = .seconds(60)
    /// Receives what goes on, on any thread.
    public var report: @Sendable (RemoteEvent) -> Void = { _ in }
    /// Throws once the user wants to stop; called often.
    public var checkCancellation: @Sendable () throws -> Void = {}

    /// Bytes a second that a remote copies at least, if it has to copy a file by itself.
    static let serverRate: Int64 = 10 << 20

    private static let outputLimit = 64 << 20
    /// How long rclone has to end once it is asked to.
    private static let grace = Duration.seconds(2)
    /// How often rclone tells of progress.
    private static let interval = "500ms"

    // rclone's exit codes (https://rclone.org/docs/#exit-code).
    private static let directoryNotFound: CInt = 3
    private static let fileNotFound: CInt = 4

    /// Changes to rclone's environment; `nil` takes a variable out.
    public var environment: [String: String?] = [:]
    /// Known to this machine alone: by it the machine knows its own partial uploads again.
    public var machine: String?

    public init() {}

    /// One run of rclone.
    struct Job {
        /// The command and its arguments, without options of this type's.
        var arguments: [String]
        /// The folder that it is about, as messages name it.
        var address: String
        /// The name of the file that it is about.
        var file: String?
        /// Whether it changes the remote.
        var isWriting = false
        /// Whether it puts a file into a folder that was listed before.
        var isUpload = false
        /// Bytes that the remote may have to copy or to put together before it answers.
        var serverBytes: Int64 = 0
        /// The file that comes or goes, if its progress is to be told.
        var transfer: (direction: RemoteEvent.Direction, total: Int64)?
        /// What rclone reads; nothing if there is none.
        var input: FileDescriptor?

        init(_ arguments: [String], of address: String) {
            self.arguments = arguments
            self.address = address
        }
    }

    /// The end of a run that succeeded.
    struct Outcome {
        var output: [UInt8]
        /// rclone's own count of what it did.
        var counts: RcloneLog.Counts
    }

    /// Runs rclone to its end and returns its standard output, of at most 64 MiB.
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

    /// Runs rclone to its end; `receive` gets its standard output as it comes.
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
            environment: Self.cleared.merging(environment) { $1 }
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

    /// Returns how long a run may go on without anything moving.
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
            // Some backends try again in silence. To dump a request needs as much memory as it has bytes.
            + (job.isUpload || job.input != nil ? [] : ["--dump", "headers"])
    }

    /// Takes out what would send rclone's log elsewhere, or does not go with the options above.
    private static let cleared: [String: String?] = Dictionary(
        uniqueKeysWithValues: [
            "LOG_FILE", "LOG_LEVEL", "LOG_FORMAT", "VERBOSE", "QUIET", "PROGRESS", "INTERACTIVE",
            "DRY_RUN", "SYSLOG", "STATS_ONE_LINE", "DUMP", "USE_JSON_LOG",
        ].map { ("RCLONE_\($0)", nil) }
    )

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
