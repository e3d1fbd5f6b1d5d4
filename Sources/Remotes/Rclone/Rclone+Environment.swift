internal import Foundation

// Each option of rclone has a variable (https://rclone.org/docs/#environment-variables). Filter options would hide
// backups, and others change a command's effect.
extension Rclone {
    private static let prefix = "RCLONE_"

    /// The global options for connections and speed, which hide nothing.
    private static let connections: Set = [
        "BIND", "BUFFER_SIZE", "BWLIMIT", "BWLIMIT_FILE", "CA_CERT", "CACHE_DIR", "CHECKERS",
        "CLIENT_CERT", "CLIENT_KEY", "CLIENT_PASS", "CONFIG", "DISABLE", "DISABLE_HTTP2",
        "DISABLE_HTTP_KEEP_ALIVES", "DSCP", "EXPECT_CONTINUE_TIMEOUT", "FAST_LIST", "HEADER",
        "HEADER_DOWNLOAD", "HEADER_UPLOAD", "HTTP_PROXY", "LOW_LEVEL_RETRIES", "MAX_CONNECTIONS",
        "MULTI_THREAD_CHUNK_SIZE", "MULTI_THREAD_CUTOFF", "MULTI_THREAD_STREAMS",
        "NO_CHECK_CERTIFICATE", "PASSWORD_COMMAND", "STREAMING_UPLOAD_CUTOFF", "TEMP_DIR",
        "TPSLIMIT", "TPSLIMIT_BURST", "TRANSFERS", "USE_COOKIES", "USE_MMAP", "USER_AGENT",
    ]

    /// The first words of the other options, global and of single commands; no backend has such a name.
    private static let others: Set = [
        "ASK", "AUTO", "BACKUP", "BUFFER", "CA", "CHECK", "CLIENT", "COMPARE", "COPY", "CREATE",
        "CUTOFF", "DEFAULT", "DIR", "DIRS", "LEAVE", "MISSING", "OUTPUT", "PROGRESS", "SYSLOG",
        "DELETE", "DISABLE", "DRY", "DUMP", "ERROR", "EXCLUDE", "EXPECT", "FAST", "FILES", "FILTER",
        "FIX", "FS", "HASH", "HEADER", "HUMAN", "IGNORE", "INCLUDE", "KV", "LIST", "LOG", "LOW",
        "MAX", "METADATA", "METRICS", "MIN", "MODIFY", "MULTI", "NAME", "NO", "ONE", "ORDER",
        "PARTIAL", "PASSWORD", "RC", "REFRESH", "RETRIES", "SERVER", "SIZE", "SKIP", "STATS",
        "STREAMING", "SUFFIX", "SYNC", "TEMP", "TERMINAL", "TRACK", "UPDATE", "USE", "USER",
    ]

    /// Returns the changes to this process's environment for a run of rclone.
    static func changes(to environment: [String: String?]) -> [String: String?] {
        var changes = environment
        for name in Set(ProcessInfo.processInfo.environment.keys).union(environment.keys)
        where !reachesRclone(name) { changes.updateValue(nil, forKey: name) }
        return changes
    }

    /// Returns whether a variable is passed to rclone: one for configuration, connections or a backend, or none of
    /// rclone's.
    static func reachesRclone(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return true }
        let option = name.dropFirst(prefix.count)
        if connections.contains(String(option)) || option.hasPrefix("CONFIG_") { return true }
        let words = option.split(separator: "_", omittingEmptySubsequences: false)
        return words.count > 1 && !others.contains(String(words[0]))
    }
}
