internal import Archives
internal import Backups
internal import Files
internal import Synchronization
internal import SystemPackage

/// Why something in mounted backups could not be read: programs are given a number, and the person is told the
/// reason, once.
///
/// A kernel asks again and again; so may programs.
final class MountTroubles: Sendable {
    /// The most reasons that are remembered.
    private static let limit = 1000

    private let context: OperationContext
    private let told = Mutex<Set<String>>([])

    init(_ context: OperationContext) { self.context = context }

    /// Tells of a failure, unless that was done.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - name: the backup, if the error does not name it.
    /// - Returns: the number for whoever asked.
    func errno(_ error: any Error, in name: String? = nil) -> Errno {
        if let errno = error as? Errno { return errno }
        if error is CancellationError { return .interrupted }
        let text = explain(error)
        tell(name.flatMap { text.contains($0) ? nil : "'\($0)': \(text)" } ?? text)
        return number(error)
    }

    private func tell(_ text: String) {
        let isNew = told.withLock { told in
            if told.count >= Self.limit { told.removeAll() }
            return told.insert(text).inserted
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
