import Files
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Damage in a remote folder",
    .enabled(if: ServedDirectory.isAvailable, "rclone is not installed")
)
struct DamageElsewhereTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        // Most of the archive, so that its middle is data.
        var random = Pseudorandom(seed: 1)
        try program.sandbox.write(random.bytes(1 << 20), to: "Stores/photo.jpg")
    }

    /// Damage that something on the way, or over there, does to an archive.
    enum Damage: CaseIterable {
        case flipped, cut, emptied

        func done(to bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .flipped:
                var bytes = bytes
                bytes[bytes.count / 2] ^= 0x10
                return bytes
            case .cut: return Array(bytes.dropLast(bytes.count / 3))
            case .emptied: return []
            }
        }
    }

    @Test(
        "A check finds remote damage that a list does not, and a restore refuses before any change",
        arguments: ServedDirectory.Kind.allCases,
        Damage.allCases
    )
    func reported(kind: ServedDirectory.Kind, damage: Damage) throws {
        let sandbox = program.sandbox
        let server = try ServedDirectory(sandbox.path("Remote"), over: kind)
        let places = ["--stores", "Stores", "--remote", server.address]
        let backup = try program.run(["backup", "--json"] + places)
        #expect(backup.status == 0, "\(backup.errors)")
        let name = try #require((backup.json as? [String: Any])?["name"] as? String)
        try sandbox.write(damage.done(to: sandbox.read("Remote/\(name)")), to: "Remote/\(name)")
        let before = try sandbox.contents(of: "Stores")

        let listed = try program.run(["list", "--json"] + places.suffix(2))
        #expect(listed.status == 0)
        #expect(try (listed.json as? [Any])?.count == 1)
        let checked = try program.run(["check", "latest"] + places.suffix(2))
        #expect(checked.status == 20, "\(checked.errors)")
        let restored = try program.run(["restore", "latest", "--yes"] + places)
        #expect(restored.status == 20, "\(restored.errors)")
        #expect(try sandbox.contents(of: "Stores") == before)
        #expect(
            try Directory.open(sandbox.path).names().map(\.description).filter {
                $0.hasPrefix("Stores")
            } == ["Stores"]
        )
    }
}
