internal import Foundation

extension RemoteError {
    /// Tells what rclone's words stand for.
    ///
    /// rclone has exit codes for few of them, and each backend has words of its own.
    /// - Parameters:
    ///   - reason: rclone's words.
    ///   - address: the folder.
    ///   - isWriting: whether the folder was to be changed.
    /// - Returns: the error, at worst `.rclone` with these words.
    static func said(_ reason: String, of address: String, isWriting: Bool) -> RemoteError {
        let kinds: [(words: [String], error: RemoteError, isMeant: Bool)] = [
            (noRemote, .noRemote(address), true),
            (noConnection, .unreachable(address, reason: reason), true),
            (noSpace, .noSpace(address, reason: reason), isWriting),
            (unauthorized, .unauthorized(address, reason: reason), true),
            (readOnly, .readOnly(address, reason: reason), isWriting),
            (missing, .missing(address), true),
        ]
        let text = reason.lowercased()
        let status = text.firstMatch(of: #/(?:^|[ (])(40[135]|507)(?:$|[ ):,])/#).map {
            "HTTP \($0.1)"
        }
        for kind in kinds where kind.isMeant {
            if kind.words.contains(where: { $0 == status || text.contains($0) }) {
                return kind.error
            }
        }
        return .rclone(address, reason: reason)
    }

    /// Stands for a status of HTTP's among the words: a number alone is found in many an address.
    private static func http(_ status: Int) -> String { "HTTP \(status)" }

    private static let noRemote = ["didn't find section in config file"]
    private static let noConnection = [
        "dial tcp", "no such host", "connection refused", "network is unreachable",
        "no route to host",
    ]
    private static let noSpace = [
        "no space left", "insufficient storage", "insufficient_space", "insufficientstorage",
        "quota", "disk full", "storage full", "over_quota", "not enough space", "enospc",
        http(507),
    ]
    private static let unauthorized = [
        "unauthorized", "unable to authenticate", "invalid_grant", "invalidaccesskeyid",
        "signaturedoesnotmatch", "invalid_access_token", "expired_access_token", "token expired",
        "couldn't fetch token", "empty token", "authenticationfailed", "authentication failed",
        "invalid credentials", "login incorrect", "530 ", "bad username", http(401),
    ]
    private static let readOnly = [
        "forbidden", "accessdenied", "access denied", "permission denied",
        "permission_denied", "read-only", "read only", "method not allowed", "op_unsupported",
        "insufficientfilepermissions", "no_write_permission", "550 ",
        http(403), http(405),
    ]
    private static let missing = ["nosuchbucket", "directory not found"]
}
