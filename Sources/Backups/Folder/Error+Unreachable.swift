internal import Files
internal import Remotes
internal import SystemPackage

extension Error {
    /// Whether it says that a remote folder cannot be reached just now, and nothing of what is in it.
    package var isUnreachable: Bool {
        switch self as any Error {
        case RemoteError.missing, RemoteError.rclone, RemoteError.noRclone, RemoteError.unreachable,
            RemoteError.stalled, RemoteError.unsure:
            true
        case FileError.failed(_, _, let errno): absences.contains(errno)
        default: false
        }
    }
}

/// What the system says of a mounted folder whose server or disk is away; of a disk that is there it says
/// none of these.
private let absences: Set<Errno> = [
    .socketNotConnected, .staleNFSFileHandle, .hostIsDown, .noRouteToHost, .networkDown,
    .networkUnreachable, .timedOut, .operationNotSupportedByDevice, .noSuchAddressOrDevice,
]
