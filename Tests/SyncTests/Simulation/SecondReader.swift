import Changes
import Foundation
import SystemPackage
import TestSupport

/// The reader in Python, which was written from the description of the formats alone.
enum SecondReader {
    static let isInstalled = Tool.isInstalled("python3")

    private static let script = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../../scripts/read-changes.py").standardized.path

    /// Returns the first thing that it reads otherwise than the first one does; `nil` if they agree.
    static func disagreement(on files: [(path: FilePath, file: ChangeFile)]) throws -> String? {
        guard !files.isEmpty else { return nil }
        let expected = try files.flatMap { try lines(of: $0.file) }
        let outcome = try Tool.run("python3", [script] + files.map(\.path.string))
        let found = try outcome.text.split(separator: "\n").map { try canonical(Data($0.utf8)) }
        for (ours, its) in zip(expected, found) where ours != its {
            return "first: \(ours), second: \(its)"
        }
        return found.count == expected.count
            ? nil : "first: \(expected.count) lines, second: \(found.count) \(outcome.errors)"
    }

    private static func lines(of file: ChangeFile) throws -> [String] {
        let header = file.header
        var lines = [
            try canonical([
                "kind": Int(file.kind.rawValue), "id": "\(file.id)", "group": "\(header.group)",
                "device": "\(header.device)", "clock": Int(header.clock), "wall": Int(header.wall),
                "sequence": Int(header.sequence), "part": Int(header.part),
                "parts": Int(header.parts), "schema": "\(header.schema)", "program": header.program,
                "seen": header.seen.map { ["\($0.device)", Int($0.clock)] as [Any] },
                "replaces": header.replaces.map { "\($0)" },
            ])
        ]
        try file.forEachRow { table, row in
            var line: [String: Any] = [
                "table": table.name.description, "id": "\(row.id)",
                "cl": Int(row.state.causalLength),
            ]
            if row.state.isAlive {
                line["birth"] = row.state.birth.map(stamp) ?? NSNull()
                line["hint"] = row.hint.map(value) ?? NSNull()
                line["cells"] = row.state.cells.map {
                    [$0.column.description, stamp($0.stamp), value($0.value)] as [Any]
                }
            } else {
                line["deleted"] = stamp(row.state.deletion)
            }
            lines.append(try canonical(line))
        }
        return lines
    }

    private static func stamp(_ stamp: Stamp) -> Any { [Int(stamp.clock), "\(stamp.device)"] }

    private static func value(_ value: Value) -> Any {
        switch value {
        case .null: NSNull()
        case .integer(let number): ["integer": Int(number)]
        case .real: ["real": hex(Array(value.encoded.dropFirst()))]
        case .text(let bytes):
            String(validating: bytes, as: UTF8.self).map { ["text": $0] }
                ?? ["text-bytes": hex(bytes)]
        case .blob(let bytes): ["blob": hex(bytes)]
        case .row(let id): ["row": "\(id)"]
        case .file(let name, let content):
            [
                "file": [String(decoding: name, as: UTF8.self), "\(content.digest)", content.size]
                    as [Any]
            ]
        case .longText(let content): ["long-text": ["\(content.digest)", content.size] as [Any]]
        case .longBlob(let content): ["long-blob": ["\(content.digest)", content.size] as [Any]]
        case .plain(let content): ["plain": self.value(content)]
        case .naming(let id, let content): ["naming": ["\(id)", self.value(content)]]
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func canonical(_ object: [String: Any]) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
        return String(decoding: data, as: UTF8.self)
    }

    private static func canonical(_ line: Data) throws -> String {
        try canonical(JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:])
    }
}
