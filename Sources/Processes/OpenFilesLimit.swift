internal import Foundation
internal import Synchronization

/// The maximum number of files that this program may have open at once (setrlimit(2)).
public enum OpenFilesLimit {
    /// The wanted limit. It exceeds the 1,024 of most systems, since a cut keeps every store open.
    ///
    /// A far larger one would cost time when all descriptors are closed for a child; macOS allows at most OPEN_MAX.
    #if canImport(Darwin)
    private static let resource = RLIMIT_NOFILE
    private static let wanted: rlim_t = 10_240
    #else
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    private static let wanted: rlim_t = 65_536
    #endif

    private static let before = Mutex<rlim_t?>(nil)

    /// The limit before it was raised, for the user's commands, since a higher one breaks programs that use select(2).
    static var original: UInt64? { before.withLock { $0.map { UInt64($0) } } }

    /// Raises the limit as far as the system allows without privileges; a refusal is ignored.
    public static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        let (original, raised) = (limit.rlim_cur, min(wanted, limit.rlim_max))
        guard raised > original else { return }
        limit.rlim_cur = raised
        guard setrlimit(resource, &limit) == 0 else { return }
        before.withLock { $0 = original }
    }
}
