#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// How many files the program may have open at once.
enum OpenFiles {
    /// More than the 1,024 that most systems begin with, since a cut holds every store open.
    ///
    /// Far more would cost whoever closes all of them for a child; macOS gives no more than OPEN_MAX.
    #if canImport(Darwin)
    private static let wanted: rlim_t = 10_240
    #else
    private static let wanted: rlim_t = 65_536
    #endif

    /// Raises the limit as far as the system lets everybody (setrlimit(2)).
    static func raiseLimit() {
        #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        #else
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        let raised = min(wanted, limit.rlim_max)
        guard raised > limit.rlim_cur else { return }
        limit.rlim_cur = raised
        // Where it is refused, the one that there is has to do.
        _ = setrlimit(resource, &limit)
    }
}
