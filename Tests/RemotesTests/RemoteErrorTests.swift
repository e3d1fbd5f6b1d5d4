internal import Remotes
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
        #expect(errors[6].hint?.contains("'\(address)/.notes'") == true)
        #expect(errors[4].description.hasSuffix("quota met"))
    }

    @Test("The hint for a missing folder fits the kind of folder")
    func hints() {
        #expect(RemoteError.missing("/mnt/disk").hint?.contains("mkdir -p '/mnt/disk'") == true)
        #expect(
            RemoteError.missing("rclone:box:a b").hint == "make it with: rclone mkdir 'box:a b'"
        )
    }
}
