@testable import Backups
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Operations

#if os(Linux)
/// Names that are bytes and nothing else, which only Linux takes as they are.
@Suite("Awkward names")
struct NamesTests {
    /// Names that other programs have stumbled over; those of the test data besides, where it is
    /// there.
    private static func names() throws -> [[UInt8]] {
        var names: [[UInt8]] = [
            "line\nbreak", "-rf", "--help", " leading", "trailing ", "trailing.", "tab\t", "CON",
            "nul.txt", "a\\b", "C:", "*?<>|\"", "\u{1B}[2J", "e\u{301}", "\u{E9}", "\u{FEFF}bom",
            "\u{202E}txt.exe", "...", "~", "$HOME", "`id`", "%00", ".grocerydude", "\r\n",
            String(repeating: "x", count: 255), String(repeating: "\u{1F34E}", count: 63),
        ].map { Array($0.utf8) }
        names += [[0xFF, 0xFE], [0xC3, 0x28], [0x80], [0xED, 0xA0, 0x80], Array(0x01...0x1F)]
        struct Listed: Decodable { var hex: String }
        let path = Fixtures.corpora.appending("names/names-test-suites.json")
        guard try FileInfo.ifPresent(path) != nil else { return names }
        let data = try Data(contentsOf: URL(fileURLWithPath: path.string))
        names += try JSONDecoder().decode([Listed].self, from: data).map { listed in
            let digits = Array(listed.hex)
            return stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
        }
        return names
    }

    @Test("A restore returns awkward names byte for byte, as files, directories and links")
    func roundTrip() async throws {
        let scene = try Scene()
        let root = try Directory.open(scene.stores)
        var used: Set<FileName> = []
        for bytes in try Self.names() {
            // No file can be called this: empty, dots, a slash, a NUL, more than 255 bytes.
            guard let path = try? RelativePath(validating: bytes), path.parent == nil,
                used.insert(path.name).inserted
            else { continue }
            let directory = try root.directory(made(path.name, in: root))
            let file = try directory.createFile(path.name)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            try directory.createLink("link", target: bytes)
        }
        #expect(used.count >= 30)
        let before = try scene.sandbox.contents(of: "Stores")
        let outcome = try await scene.backUp()
        #expect(outcome.problems == [])
        try await scene.restore { $0.makesSafetyBackup = false }
        let after = try scene.sandbox.contents(of: "Stores")
        func others(_ contents: Contents) -> [Contents.Item] {
            contents.items.filter { !$0.path.description.hasPrefix("Grocery-Dude.sqlite") }
        }
        #expect(others(after) == others(before))
        print("names: \(used.count) round trips")
    }

    private func made(_ name: FileName, in directory: Directory) throws -> FileName {
        try directory.createDirectory(name)
        return name
    }

    @Test("A restore returns names beyond PATH_MAX, and from sixty directories down")
    func deep() async throws {
        for (depth, length) in [(17, 255), (60, 3)] {
            let scene = try Scene()
            let name = try RelativePath(
                validating: Array(repeating: UInt8(ascii: "d"), count: length)
            ).name
            var directory = try Directory.open(scene.stores)
            for _ in 0..<depth {
                try directory.createDirectory(name)
                directory = try directory.directory(name)
            }
            let file = try directory.createFile("file")
            try Array("deep".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            let outcome = try await scene.backUp()
            #expect(outcome.problems == [], "depth \(depth)")
            try await scene.restore { $0.makesSafetyBackup = false }
            var restored = try Directory.open(scene.stores)
            for _ in 0..<depth { restored = try restored.directory(name) }
            #expect(
                try restored.file("file").readExactly(count: 4, at: 0) == Array("deep".utf8),
                "depth \(depth)"
            )
        }
    }
}
#endif
