internal import CFiles
internal import Foundation

/// The files that this program may still open (setrlimit(2)).
public enum OpenFiles {
    /// The maximum number reserved for files that are open only briefly: an archive, its folder, logs, commands.
    private static let mostSetAside = 256

    /// Returns whether so many more files may be opened and kept open, with enough left for everything else.
    ///
    /// The system assigns the smallest free number, so all smaller numbers are in use.
    public static func mayHold(_ count: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return true }
        var ends: (Int32, Int32) = (-1, -1)
        guard cfiles_pipe(&ends.0, &ends.1) == 0 else { return errno != EMFILE && errno != ENFILE }
        close(ends.0)
        close(ends.1)
        let most = Int(min(limit.rlim_cur, rlim_t(Int32.max)))
        return Int(max(ends.0, ends.1)) + count <= most - min(mostSetAside, most / 4)
    }

    #if canImport(Darwin)
    private static let resource = RLIMIT_NOFILE
    #else
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
}
