import Files
import Foundation
import Remotes
import TestSupport
import Testing

@testable import Backups

@Suite("A glance at many archives")
struct GlanceTests {
    @Test(
        "A glance at many archives gives a result for each, under its own name",
        arguments: [0, 1, 31, 64, 1000]
    )
    func order(count: Int) async throws {
        let sandbox = try Sandbox()
        defer { try? sandbox.remove() }
        let files = try (0..<count).map { number in
            // One in three begins as an archive and has no end.
            let beginning: [UInt8] = number.isMultiple(of: 3) ? [0x50, 0x4B, 3, 4] : [0, 1, 2, 3]
            let path = try sandbox.write(beginning, to: "\(number)")
            return RemoteFile(name: "\(number)", size: 4, location: path)
        }
        let glances = try await Glance.glances(at: files, keys: .none)
        let areCutOff = glances.map { glance -> Bool? in
            guard case .unreadable(let isCutOff, _) = glance else { return nil }
            return isCutOff
        }
        #expect(areCutOff == (0..<count).map { $0.isMultiple(of: 3) })
    }
}
