import Files
import SystemPackage
import TestSupport
import Testing

/// Folders of this machine that an address of rclone names.
@Suite(
    "Local remotes of rclone",
    .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
)
struct LocalRemoteTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.sandbox.directory("Stores/Backups")
        let stores = program.sandbox.path("Stores")
        try program.sandbox.write(
            """
            [disk]
            type = local
            [inside]
            type = alias
            remote = \(stores)
            [deeper]
            type = alias
            remote = inside:Backups
            [secret]
            type = crypt
            remote = deeper:
            password = x
            [both]
            type = union
            upstreams = \(program.sandbox.path("Remote")) "inside:Backups:ro"
            [parts]
            type = combine
            upstreams = "a=disk:/tmp" "b=deeper:"

            """,
            to: ".config/rclone/rclone.conf"
        )
    }

    @Test(
        "in the stores directory are refused, whatever they are called",
        arguments: [
            "disk:@Stores/Backups", "disk:@Stores", "inside:", "inside:Backups", "deeper:",
            "secret:", "secret:x", "both:", "parts:", ":local:@Stores/Backups",
            ":alias,remote=@Stores:Backups",
        ]
    )
    func refused(address: String) throws {
        let place = address.replacing("@", with: "\(program.sandbox.path)/")
        for command in [["backup"], ["backup", "--dry-run"], ["backup", "--set", "queue=true"]] {
            let outcome = try program.run(
                command + ["--stores", "Stores", "--remote", "rclone:\(place)"]
            )
            #expect(outcome.status == 1, "\(command): \(outcome.errors)")
            #expect(outcome.errors.contains("inside the stores directory"), "\(outcome.errors)")
        }
        let link = try program.run(["link", "rclone:\(place)", "--stores", "Stores"])
        #expect(link.errors.contains("inside the stores directory"), "\(link.errors)")
        let names = try Directory.open(program.sandbox.path("Stores/Backups")).names()
        #expect(names.isEmpty)
    }

    @Test("elsewhere are folders like others")
    func elsewhere() throws {
        let remote = "rclone:disk:\(program.sandbox.path("Remote"))"
        for command in [["backup"], ["restore", "latest", "--yes"]] {
            let outcome = try program.run(command + ["--stores", "Stores", "--remote", remote])
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
    }
}
