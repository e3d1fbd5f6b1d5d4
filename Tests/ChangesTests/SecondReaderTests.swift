internal import Changes
internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

/// Checks the formats with a second reader that was written only from their description.
@Suite("A second reader", .enabled(if: Tool.isInstalled("python3"), "python3 is not installed"))
struct SecondReaderTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("scripts/read-changes.py").path

    @Test("The second reader reads random files as the first one does")
    func agrees() throws {
        let files = try Fuzzing(usual: 200).map { seed in
            var random = Pseudorandom(seed: seed)
            return try random.file().bytes
        }
        let expected = try files.flatMap { try lines(of: $0) ?? ["refused"] }
        #expect(!expected.contains("refused"))
        let (output, status) = try read(files)
        #expect(status == 0)
        #expect(output.count == expected.count)
        for (ours, its) in zip(expected, output) where ours != its {
            Issue.record("first: \(ours)\nsecond: \(its)")
            return
        }
    }

    @Test("The second reader refuses the same damaged files as the first one, and no others")
    func agreesOnDamage() throws {
        let files = try Fuzzing(usual: 400).map { seed in
            var random = Pseudorandom(seed: seed)
            let whole = try random.file().bytes
            let envelope = try Envelope(reading: whole, name: "f", inflate: inflate)
            var (header, body) = (envelope.header, envelope.body)
            if random.below(3) == 0 { _ = random.damage(&header) } else { _ = random.damage(&body) }
            return try Envelope.write(envelope.kind, header: header, body: body).bytes
        }
        let expected = try files.flatMap { try lines(of: $0) ?? ["refused"] }
        #expect(expected.count { $0 == "refused" } > files.count / 3)
        let output = try read(files).lines.map { $0.hasPrefix("{\"refused\"") ? "refused" : $0 }
        #expect(output == expected)
    }

    @Test("The second reader reads the other kinds of files")
    func otherKinds() throws {
        let group = GroupID(high: 1, low: 2)
        let header = DocumentHeader(group: group, device: DeviceID(high: 3, low: 4), clock: 9)
        let index = try BaselineIndex.write(.sample, parts: [digest([1])], covers: [digest([2])])
        let mark = GroupMark(
            group: try #require(GroupName("a")),
            id: group,
            made: Date(timeIntervalSince1970: 0)
        )
        let markFile = try DocumentFile<GroupMark>.write(header, mark)
        var running = RunningDigest()
        let blob = try BlobFile.start(group: group, size: 2) + [7, 8]
        blob.withUnsafeBytes { running.update($0) }
        let blobFile = blob + running.digest.bytes
        let (lines, status) = try read([index.bytes, markFile.bytes, blobFile])
        #expect(status == 0)
        try #require(lines.count == 3)
        #expect(
            lines[0].hasSuffix("\"part_ids\":[\"\(digest([1]))\"],\"covers\":[\"\(digest([2]))\"]}")
        )
        #expect(
            lines[1].contains("\"clock\":9,\"json\":{\"after\":[],\"format\":1,\"group\":\"a\"")
        )
        #expect(lines[2].hasSuffix("\"content\":\"\(digest([7, 8]))\",\"size\":2}"))
    }

    /// Reads files with the second reader.
    private func read(_ files: [[UInt8]]) throws -> (lines: [String], status: Int32) {
        let sandbox = try Sandbox()
        let paths = try files.enumerated().map { index, bytes in
            let path = sandbox.path.appending("\(index).changes").string
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return path
        }
        var result: (lines: [String], status: Int32) = ([], 0)
        // A command line has room for some thousand paths.
        for start in stride(from: 0, to: paths.count, by: 1000) {
            let some = paths[start..<min(start + 1000, paths.count)]
            let outcome = try Tool.run("python3", [Self.script] + some)
            #expect(outcome.errors == "")
            result.lines += outcome.text.split(separator: "\n").map(String.init)
            result.status = max(result.status, outcome.status)
        }
        return result
    }

    /// Returns the lines that the second reader should print for a file; `nil` if it should refuse it.
    private func lines(of bytes: [UInt8]) throws -> [String]? {
        let file: ChangeFile
        do {
            file = try ChangeFile(reading: bytes, name: "f", inflate: inflate)
        } catch is ChangeError {
            return nil
        }
        let header = file.header
        let seen = header.seen.map { "[\"\($0.device)\",\($0.clock)]" }.joined(separator: ",")
        let replaces = header.replaces.map { "\"\($0)\"" }.joined(separator: ",")
        var lines = [
            "{\"kind\":\(file.kind.rawValue),\"id\":\"\(file.id)\",\"group\":\"\(header.group)\","
                + "\"device\":\"\(header.device)\",\"clock\":\(header.clock),"
                + "\"wall\":\(header.wall),\"sequence\":\(header.sequence),"
                + "\"part\":\(header.part),\"parts\":\(header.parts),\"schema\":\"\(header.schema)\","
                + "\"program\":\(text(header.program)),\"seen\":[\(seen)],\"replaces\":[\(replaces)]}"
        ]
        try file.forEachRow { table, row in
            var line = "{\"table\":\(text(table.name.description)),\"id\":\"\(row.id)\","
            line += "\"cl\":\(row.state.causalLength),"
            if row.state.isAlive {
                let cells = row.state.cells.map {
                    "[\(text($0.column.description)),\(stamp($0.stamp)),\(value($0.value))]"
                }
                line += "\"birth\":\(row.state.birth.map(stamp) ?? "null"),"
                line += "\"hint\":\(row.hint.map(value) ?? "null"),"
                line += "\"cells\":[\(cells.joined(separator: ","))]}"
            } else {
                line += "\"deleted\":\(stamp(row.state.deletion))}"
            }
            lines.append(line)
        }
        return lines
    }

    private func stamp(_ stamp: Stamp) -> String {
        "[\(stamp.clock),\"\(stamp.device)\"]"
    }

    private func value(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "{\"integer\":\(number)}"
        case .real: "{\"real\":\"\(value.encoded.dropFirst().map { $0 }.hex)\"}"
        case .text(let bytes):
            String(validating: bytes, as: UTF8.self).map { "{\"text\":\(text($0))}" }
                ?? "{\"text-bytes\":\"\(bytes.hex)\"}"
        case .blob(let bytes): "{\"blob\":\"\(bytes.hex)\"}"
        case .row(let id): "{\"row\":\"\(id)\"}"
        case .file(let name, let content):
            "{\"file\":[\(text(String(validating: name, as: UTF8.self) ?? name.hex)),"
                + "\"\(content.digest)\",\(content.size)]}"
        case .longText(let content): "{\"long-text\":[\"\(content.digest)\",\(content.size)]}"
        case .longBlob(let content): "{\"long-blob\":[\"\(content.digest)\",\(content.size)]}"
        case .plain(let content): "{\"plain\":\(self.value(content))}"
        case .naming(let id, let content): "{\"naming\":[\"\(id)\",\(self.value(content))]}"
        }
    }

    /// Returns a text as Python writes it in JSON.
    private func text(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = [
            "\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u{8}": "\\b",
            "\u{C}": "\\f",
        ]
        var result = "\""
        for scalar in text.unicodeScalars {
            if let escape = escapes[scalar] {
                result += escape
            } else if scalar.value < 0x20 {
                result += "\\u00" + [UInt8(scalar.value)].hex
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
