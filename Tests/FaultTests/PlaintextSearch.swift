import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

extension FaultScenario {
    var isRotation: Bool { arguments[0] == "key" }

    /// Whether all that it writes into the folder is encrypted.
    private var isEncrypting: Bool {
        arguments.contains("--recipient") || name == Self.encryptedRestore.name
    }

    /// Expects nothing of what is backed up wherever an encrypted backup is, is made, or was: neither bytes, nor
    /// names.
    func expectNothingInPlain(_ trial: Trial, _ scene: FaultScene, _ what: Comment) throws {
        guard isEncrypting else { return }
        // What was in plain before stays so.
        let leaks = try trial.leaks().filter {
            !$0.contains(scene.archive) && !trial.found.string.hasSuffix($0)
        }
        #expect(leaks.isEmpty, "\(what): \(leaks)")
    }
}

extension Trial {
    /// Where the backed up data is in plain beside the stores directory and what a restore makes of it.
    func leaks() throws -> [String] {
        // Some of a file that no compression changes, and a name.
        let large = Pseudorandom.bytes(seed: 5, count: 1_200_000)
        let bytesMark = Data(large[600_000..<600_064])
        let nameMark = Data("directory/note".utf8)
        var found: [String] = []
        for place in ["Remote", "Other", "home", "tmp"] {
            let root = root.appending(place)
            guard try FileInfo.ifPresent(root) != nil else { continue }
            try Directory.open(root).walk(failed: { throw $1 }) { file in
                guard case .file = file.info.kind else { return .descend }
                let bytes = try File.contents(of: file.path.below(root), limit: 1 << 30)
                let text = Data(bytes)
                // What this machine keeps may name files; the table is in the documentation.
                let mayName = place == "home" && file.path.description.hasPrefix(".")
                let isLeak =
                    bytes.starts(with: "PK".utf8) || text.range(of: bytesMark) != nil
                    || !mayName && text.range(of: nameMark) != nil
                if isLeak { found.append("\(place)/\(file.path)") }
                return .descend
            }
        }
        return found
    }
}
