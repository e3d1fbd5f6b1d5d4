internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@testable internal import Remotes

@Suite("The secrets in an rclone address")
struct RcloneSecretsTests {
    @Test(
        "An rclone address hides its secrets in every form",
        arguments: [
            ("nas:backups/app", "nas:backups/app"),
            ("nas,pass=SECRET:path", "nas,pass=…:path"),
            (
                ":sftp,host=h,user=u,pass=\"SE,CR\"\"ET:\",port=22:p",
                ":sftp,host=h,user=u,pass=…,port=22:p"
            ),
            (":sftp,pass='SECRET':", ":sftp,pass=…:"),
            (":sftp,pass=\"SECRET", ":sftp,pass=…"),
            (":webdav,url=https://user:SECRET@host:", ":webdav,url=https://user:…@host:"),
            (
                ":webdav,url=\"https://user:SEC/RET@host/x\",vendor=other:d",
                ":webdav,url=\"https://user:…@host/x\",vendor=other:d"
            ),
            (":azureblob,sas_url=\"https://h/?sv=1&sig=SECRET\":c", ":azureblob,sas_url=…:c"),
            (":http,url=\"https://h/?a=1&token=SECRET\":", ":http,url=\"https://h/?a=1&token=…:"),
            (
                ":crypt,remote=\":sftp,host=h,pass=SECRET:d\",password=SECRET:",
                ":crypt,remote=\":sftp,host=h,pass=…:d\",password=…:"
            ),
            (
                ":s3,access_key_id=SECRET,secret_access_key=SECRET,region=eu:b/p",
                ":s3,access_key_id=…,secret_access_key=…,region=eu:b/p"
            ),
        ]
    )
    func shown(address: String, shown: String) {
        #expect(RemoteAddress("rclone:\(address)").shown == "rclone:\(shown)")
        #expect(RcloneFolder(address).subfolder("x").address.hasPrefix("rclone:\(shown)"))
        #expect(RcloneMask(address)("failed at \(address)") == "failed at \(shown)")
    }

    @Test("A directory's name in an rclone address contains no secrets")
    func local() {
        #expect(RemoteAddress("/data/a,pass=b").shown == "/data/a,pass=b")
    }

    @Test(
        "rclone's own messages do not show the secrets of an address",
        .enabled(if: Tool.isInstalled("rclone"))
    )
    func errors() async throws {
        let folder = RcloneFolder(
            ":sftp,host=localhost,port=1,user=u,pass=\"not obscured SECRET\":p"
        )
        do {
            _ = try await folder.list()
            Issue.record("it is not there")
        } catch {
            #expect(!explain(error).contains("SECRET"), "\(error)")
        }
    }
}

@Suite("rclone's environment")
struct RcloneEnvironmentTests {
    @Test(
        "rclone's environment keeps what leads to a remote, and nothing that hides or changes files"
    )
    func names() {
        for name in [
            "PATH", "RCLONE_CONFIG", "RCLONE_CONFIG_PASS", "RCLONE_CONFIG_NAS_TYPE",
            "RCLONE_S3_CHUNK_SIZE",
            "RCLONE_SFTP_KEY_FILE", "RCLONE_DRIVE_ROOT_FOLDER_ID", "RCLONE_BWLIMIT",
            "RCLONE_CA_CERT",
            "RCLONE_CACHE_DIR", "RCLONE_PASSWORD_COMMAND", "RCLONE_LOW_LEVEL_RETRIES",
            "RCLONE_NEWCLOUD_TOKEN",
        ] { #expect(Rclone.reachesRclone(name), "\(name)") }
        for name in [
            "RCLONE_DIRS_ONLY", "RCLONE_MIN_AGE", "RCLONE_MAX_SIZE", "RCLONE_FILTER",
            "RCLONE_FILTER_FROM",
            "RCLONE_INCLUDE",
            "RCLONE_EXCLUDE_IF_PRESENT", "RCLONE_FILES_FROM_RAW", "RCLONE_MAX_DEPTH",
            "RCLONE_DRY_RUN",
            "RCLONE_INTERACTIVE", "RCLONE_IMMUTABLE", "RCLONE_MAX_TRANSFER", "RCLONE_MAX_DELETE",
            "RCLONE_SUFFIX",
            "RCLONE_BACKUP_DIR", "RCLONE_NO_TRAVERSE", "RCLONE_IGNORE_CHECKSUM", "RCLONE_METADATA",
            "RCLONE_METADATA_INCLUDE", "RCLONE_HASH_FILTER", "RCLONE_LOG_FILE",
            "RCLONE_STATS_ONE_LINE",
            "RCLONE_PROGRESS", "RCLONE_ORDER_BY", "RCLONE_DUMP", "RCLONE_UPDATE",
            "RCLONE_COMPARE_DEST",
            "RCLONE_NAME_TRANSFORM", "RCLONE_COPY_LINKS", "RCLONE_RC", "RCLONE_USE_SERVER_MODTIME",
        ] { #expect(!Rclone.reachesRclone(name), "\(name)") }
    }

    @Test("rclone's environment hides no existing file", .enabled(if: Tool.isInstalled("rclone")))
    func listing() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("text", to: "Remote/a.zip")
        var rclone = Rclone()
        rclone.environment = [
            "RCLONE_MIN_AGE": "1d", "RCLONE_MAX_SIZE": "1B", "RCLONE_EXCLUDE": "*",
            "RCLONE_DRY_RUN": "true",
        ]
        let folder = RcloneFolder(sandbox.path("Remote").string, through: rclone)
        #expect(try await folder.list().map(\.name) == ["a.zip"])
        try await folder.delete("a.zip")
        #expect(try await folder.list().isEmpty)
    }

    @Test(
        "An address cannot change rclone's environment or options",
        .enabled(if: Tool.isInstalled("rclone"))
    )
    func hyphen() async throws {
        await #expect(throws: RemoteError.noRemote("rclone:--version:")) {
            try await RcloneFolder("--version:").list()
        }
    }
}

@Suite("A name in rclone's list")
struct RcloneNameTests {
    @Test("A name in rclone's list is never taken as a path")
    func paths() throws {
        func isOfNames(_ path: String, _ name: String) throws -> Bool {
            let object: [String: Any] = ["Path": path, "Name": name, "Size": 1]
            let data = try JSONSerialization.data(withJSONObject: object)
            return try JSONDecoder().decode(RcloneFolder.Entry.self, from: data).isOfNames
        }
        for (path, name) in [
            ("a", "a"), (".notes/a.json", "a.json"), ("-x", "-x"), ("a..b", "a..b"),
        ] {
            #expect(try isOfNames(path, name), "\(path)")
        }
        for (path, name) in [
            ("", ""), ("a", "b"), ("../a", "a"), ("a/../b", "b"), ("..", ".."), (".", "."),
            ("a/b", "a/b"),
            ("/a", "a"), ("a//b", "b"), ("a/", ""), ("a\0b", "a\0b"),
        ] { #expect(try !isOfNames(path, name), "\(path)") }
    }
}
