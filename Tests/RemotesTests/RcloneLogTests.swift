@testable import Remotes
internal import Testing

/// rclone's words, as its backends and versions have them.
@Suite("rclone's log")
struct RcloneLogTests {
    private static let address = "rclone:box:Apps"

    private func log(_ lines: String...) -> RcloneLog {
        var log = RcloneLog()
        for line in lines { _ = log.receive(Array("\(line)\n".utf8)) }
        log.finish()
        return log
    }

    @Test("rclone's log names the files that moved, and no others")
    func movement() {
        var log = RcloneLog()
        func moves(_ bytes: [UInt8]) -> Bool { log.receive(bytes) }
        func line(_ bytes: Int, _ more: String = "") -> [UInt8] {
            Array(#"{"level":"warning","msg":"x","stats":{"bytes":\#(bytes)\#(more)}}"#.utf8) + [10]
        }
        #expect(moves(line(5)))
        #expect(!moves(line(5)))
        #expect(!moves(line(5, #","lastError":"x","elapsedTime":2.5"#)))
        #expect(moves(line(5, #","renames":1"#)))
        #expect(log.counts.renames == 1)
        let bytes = line(6, #","renames":1"#)
        #expect(!moves(Array(bytes.dropLast(4))))
        #expect(moves(Array(bytes.suffix(4))))
        #expect(
            moves(Array(#"{"level":"debug","msg":"HTTP/1.1 200 OK\r\nA: b"}"#.utf8) + [10])
        )
        #expect(!moves(Array(#"{"level":"debug","msg":"any"}"#.utf8) + [10]))
    }

    @Test("rclone's log gives the reason of a failure in every version")
    func reasons() {
        let old = log(
            #"{"level":"error","msg":"error listing: 401"}"#,
            #"{"level":"warning","stats":{"errors":2,"lastError":"error in ListJSON: 401"}}"#,
            "2026/11/22 14:09:36 Failed to lsjson with 2 errors: last error was: error in ListJSON: 401"
        )
        #expect(old.reason == "error in ListJSON: 401")
        let new = log(#"{"level":"critical","msg":"Failed to create file system for \"a:\": no"}"#)
        #expect(new.reason == #"Failed to create file system for "a:": no"#)
        let early = log(#"2026/11/22 14:09:36 Failed to create file system for "a:": no"#)
        #expect(early.reason == #"Failed to create file system for "a:": no"#)
        #expect(log().reason == "it said nothing")
    }

    @Test("rclone's log shows connections that are tried again")
    func connections() {
        let error = "dial tcp 127.0.0.1:9: connect: connection refused"
        let pacer = log(#"{"level":"debug","msg":"low level retry 1/10 (error \#(error))"}"#)
        #expect(pacer.connectionError == error)
        #expect(log(#"{"level":"debug","msg":"Error: \#(error)"}"#).connectionError == error)
        let other = log(#"{"level":"debug","msg":"low level retry 1/10 (error 503)"}"#)
        #expect(other.connectionError == nil)
        let refused = log(
            #"{"level":"debug","msg":"low level retry 1/10 (error ssh: unable to authenticate)"}"#
        )
        #expect(refused.refusal == "ssh: unable to authenticate")
    }

    private static let words: [(String, isWriting: Bool, RemoteError)] = {
        let reasons: [(String, Bool, (String) -> RemoteError)] = [
            ("didn't find section in config file", false, { _ in .noRemote(address) }),
            ("lookup box: no such host", false, { .unreachable(address, reason: $0) }),
            ("Insufficient Storage: 507", true, { .noSpace(address, reason: $0) }),
            ("googleapi: Error 403: storageQuotaExceeded", true, { .noSpace(address, reason: $0) }),
            ("path/insufficient_space/", true, { .noSpace(address, reason: $0) }),
            ("write: no space left on device", true, { .noSpace(address, reason: $0) }),
            ("Unauthorized: 401 Unauthorized", true, { .unauthorized(address, reason: $0) }),
            ("oauth2: invalid_grant", false, { .unauthorized(address, reason: $0) }),
            ("Forbidden: 403 Forbidden", false, { .unauthorized(address, reason: $0) }),
            ("Forbidden: 403 Forbidden", true, { .readOnly(address, reason: $0) }),
            ("AccessDenied: Access Denied", true, { .readOnly(address, reason: $0) }),
            ("sftp: \"Read only file system\"", true, { .readOnly(address, reason: $0) }),
            ("NoSuchBucket: none", false, { _ in .missing(address) }),
            ("dav.example:4010: EOF", true, { .rclone(address, reason: $0) }),
            ("object 1507.zip has vanished", true, { .rclone(address, reason: $0) }),
        ]
        return reasons.map { ($0, $1, $2($0)) }
    }()

    @Test("Each failure in rclone's log becomes one error", arguments: words)
    func errors(words: String, isWriting: Bool, error: RemoteError) {
        var job = Rclone.Job(["copyto"], on: [], of: Self.address)
        job.isWriting = isWriting
        #expect(RemoteError.said(words, by: job) == error)
    }

    @Test("rclone's log is not the reason if an existing folder has no place for a file")
    func upload() {
        var job = Rclone.Job(["copyto"], on: [], of: Self.address)
        job.isWriting = true
        let words = "Not Found: 404 Not Found"
        #expect(RemoteError.said(words, by: job) == .rclone(Self.address, reason: words))
        job.isUpload = true
        #expect(RemoteError.said(words, by: job) == .readOnly(Self.address, reason: words))
    }
}

/// The hidden names of uploads.
@Suite("UploadClaim")
struct UploadClaimTests {
    @Test("An upload claim is read as it was written, and distinguishes rivals")
    func claims() throws {
        let machine = UploadClaim.machine("secret", at: "box:Apps")
        let other = UploadClaim.machine("secret", at: "box:Other")
        #expect(machine.count == 12 && machine != other)
        #expect(machine == UploadClaim.machine("secret", at: "box:Apps"))
        #expect(UploadClaim.machine(nil, at: "a") != UploadClaim.machine(nil, at: "a"))
        let claim = UploadClaim(of: machine, to: "a.zip")
        #expect(UploadClaim(claim.name) == claim)
        #expect(PartialName.matches(claim.name))
        let rival = UploadClaim(of: other, to: "a.zip")
        #expect(claim.isRival(of: rival) && rival.isRival(of: claim))
        #expect(claim.precedes(rival) != rival.precedes(claim))
        #expect(!claim.isRival(of: claim))
        #expect(!claim.isRival(of: UploadClaim(of: other, to: "b.zip")))
        for name in [
            PartialName.make(), "a.zip", ".grocerydude-a-b-c.partial", ".grocerydude-.partial",
        ] {
            #expect(UploadClaim(name) == nil)
        }
    }
}
