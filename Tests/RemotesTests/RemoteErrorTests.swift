internal import Files
internal import Remotes
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("RemoteError")
struct RemoteErrorTests {
    @Test("Every message names the folder by its address")
    func messages() {
        let address = "rclone:box:Apps"
        let named: [RemoteError] = [
            .noRemote(address), .unreachable(address, reason: "x"),
            .stalled(address, after: .seconds(60)), .unauthorized(address, reason: "x"),
            .readOnly(address, reason: "x"), .noSpace(address, reason: "x"),
        ]
        for error in named { #expect(error.description.contains("'\(address)'")) }
        let errors: [RemoteError] = [
            .missing(address), .notAFolder(address), .noFile(address, name: "a.zip"),
            .exists(address, name: "a.zip"), .rclone(address, reason: "quota met"),
            .noRclone(address), .notASubfolder(address, name: ".notes"),
        ]
        for error in errors {
            #expect(error.description.contains("'\(address)'"))
            #expect(!error.description.hasSuffix("."))
        }
        #expect(errors[2].description.contains("'a.zip'"))
        #expect(errors[3].description.contains("'a.zip'"))
        #expect(errors[6].description.contains("'.notes'"))
        #expect(errors[6].hint?.contains("\(address)/.notes") == true)
        #expect(errors[4].description.hasSuffix("quota met"))
    }

    @Test("The hint for a missing folder fits the kind of folder")
    func hints() {
        #expect(RemoteError.missing("/mnt/disk").hint?.contains("mkdir -p /mnt/disk") == true)
        #expect(
            RemoteError.missing("rclone:box:a b").hint == "make it with: rclone mkdir 'box:a b'"
        )
    }

    @Test(
        "An address that names a remote is taken, also with options",
        arguments: [
            "rclone:nas:", "rclone:nas:a/b", "rclone:nas:/a", "rclone:my nas.x-1:a",
            "rclone:nas:\u{301}a", "rclone::local:/a", "rclone::sftp,host=x,pass=it's:a",
            "rclone::webdav,url='http://127.0.0.1:1/x',vendor=other:a", "rclone:nas,copy_links:a",
            "rclone::crypt,remote=\":sftp,host=h:d\",password=x:", "/a:b", "./nas:a", "a/b:c",
            "nas",
        ]
    )
    func addresses(text: String) throws {
        #expect(try RemoteAddress(written: text) == RemoteAddress(text))
    }

    @Test(
        "An address that rclone would take for a directory is refused, and the hint has the right one",
        arguments: [
            ("rclone:nas", "'rclone:nas:' or 'rclone:nas:PATH'"),
            ("rclone:nas/bk/a", "'rclone:nas:bk/a'"), ("rclone:nas/a:b", "'rclone:nas:a:b'"),
            ("rclone:/mnt/nas", "write '/mnt/nas'"), ("rclone:", "rclone listremotes"),
            ("rclone::", "rclone listremotes"), ("rclone::/a", "rclone listremotes"),
            ("rclone:nas,pass=SECRET", "rclone:nas,pass="),
            ("rclone:nas,url='http://x:1/SECRET", "rclone:nas,url="),
            ("nas:bk", "'rclone:nas:bk'"), (":sftp,pass=SECRET:a", "'rclone::sftp,pass=…:a'"),
        ]
    )
    func noRemotes(text: String, hint: String) throws {
        let error = #expect(throws: AddressError.self) { try RemoteAddress(written: text) }
        #expect(error?.hint?.contains(hint) == true, "\(error?.hint ?? "none")")
        #expect(error?.outcome == .usage && error?.description.contains("pass=SECRET") == false)
    }

    @Test(
        "Every way to write one folder is one address",
        arguments: [
            ["rclone:nas:a/b", "rclone:nas:a/b/", "rclone:nas:a//b", "rclone:nas:./a/./b//"],
            ["rclone:nas:/a", "rclone:nas://a/", "rclone:nas:/./a"],
            ["rclone:nas:", "rclone:nas:.", "rclone:nas:./"],
            ["rclone::webdav,url='http://h//x/':a", "rclone::webdav,url='http://h//x/':a/"],
            ["rclone:nas:\u{301}a", "rclone:nas:\u{301}a/"],
        ]
    )
    func oneAddress(texts: [String]) {
        #expect(texts.map { RemoteAddress($0).text } == texts.map { _ in texts[0] })
        #expect(RemoteAddress("rclone:nas:/a") != RemoteAddress("rclone:nas:a"))
    }

    @Test("A directory that looks like a remote is taken where it is")
    func directoryWithColon() throws {
        let sandbox = try Sandbox()
        try sandbox.directory("nas:bk")
        let address = try RemoteAddress(written: "nas:bk", in: sandbox.path)
        #expect(address == .directory("nas:bk"))
    }
}
