internal import Foundation

extension RemoteError {
    /// Returns the error for a message of rclone.
    ///
    /// rclone has few exit codes, and each backend has its own messages.
    /// - Returns: the error; `.rclone` with the message if it is unknown.
    static func said(_ reason: String, by job: Rclone.Job) -> RemoteError {
        let address = job.address
        let text = reason.lowercased()
        let status = text.firstMatch(of: #/(?:^|[ (])(40[1345]|507)(?:$|[ ):,])/#)
            .map { "HTTP \($0.1)" }
        func says(_ words: [String]) -> Bool {
            words.contains { $0 == status || text.contains($0) }
        }
        // rclone treats a missing file as a directory.
        if let file = job.file, says(["dirmove"]) { return .noFile(address, name: file) }
        if says(noRemote) { return .noRemote(address) }
        if says(noConnection) { return .unreachable(address, reason: reason) }
        if job.isWriting, says(noSpace) { return .noSpace(address, reason: reason) }
        if says(unauthorized) { return .unauthorized(address, reason: reason) }
        if says(forbidden) {
            return job.isWriting
                ? .readOnly(address, reason: reason) : .unauthorized(address, reason: reason)
        }
        // A folder that could be listed does not accept a new file.
        if job.isUpload, says([http(404)]) { return .readOnly(address, reason: reason) }
        if says(missing) { return .missing(address) }
        return .rclone(address, reason: reason)
    }

    /// Whether a listing may have failed only because a subfolder cannot be read.
    var mayBeOfSubfolder: Bool {
        switch self {
        case .rclone: true
        case .unauthorized(_, let reason):
            ["forbidden", "denied", "403"].contains(where: reason.lowercased().contains)
        default: false
        }
    }

    /// Returns whether a connection failed because of the name, password or key.
    ///
    /// Retries would be useless, and could lock an account.
    static func isUnauthorized(_ text: String) -> Bool {
        ["unable to authenticate", "401 unauthorized"].contains(where: text.lowercased().contains)
    }

    /// Returns the marker that matches an HTTP status only as a separate word; bare numbers occur in addresses.
    private static func http(_ status: Int) -> String { "HTTP \(status)" }

    private static let noRemote = ["didn't find section in config file"]
    private static let noConnection = [
        "dial tcp", "no such host", "connection refused", "network is unreachable",
        "no route to host",
    ]
    private static let noSpace = [
        "no space left", "insufficient storage", "insufficient_space", "insufficientstorage",
        "quota", "remaining disk space", "disk full", "storage full", "over_quota",
        "not enough space", "enospc",
        http(507),
    ]
    private static let unauthorized = [
        "unauthorized", "unable to authenticate", "invalid_grant", "invalidaccesskeyid",
        "signaturedoesnotmatch", "invalid_access_token", "expired_access_token", "token expired",
        "couldn't fetch token", "empty token", "authenticationfailed", "authentication failed",
        "invalid credentials", "login incorrect", "530 ", "bad username", http(401),
    ]
    private static let forbidden = [
        "forbidden", "accessdenied", "access denied", "permission denied",
        "permission_denied", "read-only", "read only", "method not allowed", "op_unsupported",
        "insufficientfilepermissions", "no_write_permission", "550 ",
        http(403), http(405),
    ]
    private static let missing = ["nosuchbucket", "directory not found"]
}
