internal import Archives
internal import Backups
internal import Files
internal import Synchronization
internal import SystemPackage

/// The failures to read mounted backups: programs get an error number, and the user gets the reason, once.
///
/// Kernels and programs may request the same file again and again.
final class MountTroubles: Sendable {
    /// The greatest number of remembered reasons.
    private static let limit = 1000

    private let context: OperationContext
    private let reported = Mutex<Set<String>>([])

    init(_ context: OperationContext) { self.context = context }

    /// Reports a failure, unless it was already reported.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - name: the backup, if the error does not name it.
    /// - Returns: the error number for the calling program.
    func errno(_ error: any Error, in name: String? = nil) -> Errno {
        if let errno = error as? Errno { return errno }
        if error is CancellationError { return .interrupted }
        let text = explain(error)
        report(name.flatMap { text.contains($0) ? nil : "'\($0)': \(text)" } ?? text)
        return number(error)
    }

    private func report(_ text: String) {
        let isNew = reported.withLock { reported in
            if reported.count >= Self.limit { reported.removeAll() }
            return reported.insert(text).inserted
        }
        if isNew { context.warn(text) }
    }

    private func number(_ error: any Error) -> Errno {
        switch error {
        case ArchiveError.encrypted: .permissionDenied
        case let error where error.isOfKeys: .permissionDenied
        case OperationError.noSpace, BackupFolderError.noSpace: .noSpace
        case let error as FileError where error.isNoSpace: .noSpace
        default: .ioError
        }
    }
}
