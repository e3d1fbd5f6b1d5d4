import Files
import Foundation
import TestSupport

@testable import Archives
@testable import Backups
@testable import Operations

/// A valid archive, and ways to make another of it that lies or is damaged.
struct ArchiveMutation {
    let bytes: [UInt8]
    /// Where each central record is, in order.
    private let central: [Range<Int>]
    private let end: Int
    /// The manifest's text; `nil` in an archive of another program.
    let manifest: String?

    init(_ reader: ArchiveReader, _ bytes: [UInt8]) throws {
        self.bytes = bytes
        end = bytes.count - ZipRecords.endLength
        var records: [Range<Int>] = []
        var position = Int(bytes.uint32(at: end + 16))
        while position < end {
            let lengths = [28, 30, 32].map { Int(bytes.uint16(at: position + $0)) }
            let next = position + ZipRecords.centralLength + lengths.reduce(0, +)
            records.append(position..<next)
            position = next
        }
        central = records
        guard reader.origin == .ours else {
            manifest = nil
            return
        }
        var text: [UInt8] = []
        try reader.read(reader.entry(at: reader.count - 1)) {
            text += $0
            return true
        }
        manifest = String(decoding: text, as: UTF8.self)
    }

    /// The damage that a mutation may do without notice.
    struct Result {
        var bytes: [UInt8]
        /// The change that was made, for messages.
        var label: String
        /// Whether the manifest was written again: then modes, owners and times are what it says.
        var editsManifest = false
    }

    func mutated(_ random: inout Pseudorandom) throws -> Result {
        switch random.below(manifest == nil ? 6 : 10) {
        case 0, 1:
            var copy = bytes
            let label = random.damage(&copy)
            return Result(bytes: copy, label: label)
        case 2:
            var copy = bytes
            // The records are a small part, which holds most of what can be believed.
            let label = random.damage(&copy, within: central[0].lowerBound..<copy.count)
            return Result(bytes: copy, label: "directory: \(label)")
        case 3: return editedField(&random)
        case 4: return swappedRecords(&random)
        case 5: return swappedOffsets(&random)
        default: return try editedManifest(&random)
        }
    }

    // MARK: - Records

    private func editedField(_ random: inout Pseudorandom) -> Result {
        var copy = bytes
        let record = random.pick(central)
        let local = Int(bytes.uint32(at: record.lowerBound + 42))
        // The fields of the three records with their widths (APPNOTE.TXT 4.3.7, 4.3.12, 4.3.16).
        let (base, fields) = random.pick([
            (record.lowerBound, [4, 6, 8, 10, 12, 14, 28, 30, 32, 34, 36]),
            (record.lowerBound, [16, 20, 24, 38, 42]),
            (local, [4, 6, 8, 10, 12, 26, 28]), (local, [14, 18, 22]), (end, [4, 6, 8, 10, 20]),
            (end, [12, 16]),
        ])
        let isWide = [14, 16, 18, 20, 22, 24, 38, 42].contains(fields[0]) || fields == [12, 16]
        let offset = base + random.pick(fields)
        let old = isWide ? copy.uint32(at: offset) : UInt32(copy.uint16(at: offset))
        let new = random.pick([
            0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, old &+ 1, old &- 1,
            old ^ 8, UInt32(truncatingIfNeeded: random.next()), UInt32(bytes.count),
        ])
        for index in 0..<(isWide ? 4 : 2) {
            copy[offset + index] = UInt8(truncatingIfNeeded: new >> (8 * index))
        }
        return Result(bytes: copy, label: "field at \(offset) from \(old) to \(new)")
    }

    private func swappedRecords(_ random: inout Pseudorandom) -> Result {
        let (first, second) = (random.below(central.count), random.below(central.count))
        var order = Array(central.indices)
        order.swapAt(first, second)
        let directory = order.flatMap { bytes[central[$0]] }
        let start = central[0].lowerBound
        return Result(
            bytes: bytes[..<start] + directory + bytes[end...],
            label: "records \(first) and \(second) swapped"
        )
    }

    /// Each of two entries says that its data is where the other's is, or has the other's checksum
    /// and sizes as well.
    private func swappedOffsets(_ random: inout Pseudorandom) -> Result {
        var copy = bytes
        let (first, second) = (random.pick(central).lowerBound, random.pick(central).lowerBound)
        let fields = random.pick([[42..<46], [16..<28, 42..<46], [10..<28, 42..<46], [38..<42]])
        for field in fields {
            for index in field { copy.swapAt(first + index, second + index) }
        }
        return Result(bytes: copy, label: "\(fields) of \(first) and \(second) swapped")
    }

    // MARK: - The manifest

    private func editedManifest(_ random: inout Pseudorandom) throws -> Result {
        var lines = (manifest ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        // The header, the records, the trailer, and what comes after the last line break: nothing.
        let records = 1..<(lines.count - 2)
        let (first, second) = (random.pick(Array(records)), random.pick(Array(records)))
        var label: String
        switch random.below(8) {
        case 0:
            lines.swapAt(first, second)
            label = "lines \(first) and \(second) swapped"
        case 1:
            lines.remove(at: first)
            label = "line \(first) removed"
        case 2:
            lines.insert(lines[first], at: second)
            label = "line \(first) again"
        case 3:
            let line = random.below(lines.count)
            var text = Array(lines[line].utf8)
            label = "line \(line): \(random.damage(&text))"
            lines[line] = String(decoding: text, as: UTF8.self)
        case 4: label = swapSegments(&lines[first], &random)
        default:
            let line = random.pick([0, first, first, first, lines.count - 2])
            label = "line \(line): \(editValue(&lines[line], &random))"
        }
        let text = Array(lines.joined(separator: "\n").utf8)
        return Result(bytes: repacked(text), label: "manifest: \(label)", editsManifest: true)
    }

    /// Puts something else in the place of a number or a text.
    private func editValue(_ line: inout String, _ random: inout Pseudorandom) -> String {
        let values = line.ranges(of: #/-?\d+|"[^"]*"/#)
        guard !values.isEmpty else { return "nothing" }
        let range = random.pick(values)
        let old = String(line[range])
        var new: String
        if let number = Int64(old) {
            new = random.pick([
                "\(number &+ 1)", "\(number &- 1)", "0", "-1", "1048576", "1048577", "2147483648",
                "9223372036854775807", "9223372036854775808", "1e300", "null", "\"1\"", "[]",
                "\(number &* 2)",
            ])
        } else {
            var bytes = Array(old.utf8.dropFirst().dropLast())
            if !bytes.isEmpty { bytes[random.below(bytes.count)] ^= UInt8(1 + random.below(15)) }
            new = random.pick([
                "\"\(String(decoding: bytes, as: UTF8.self))\"", "\"\"", "\"../x\"", "\"/x\"",
                "\"a/b\"", "\"link\"", "\"7777\"", "\"\\u0000\"", "7", "null",
            ])
        }
        line.replaceSubrange(range, with: new)
        return "\(old.prefix(20)) to \(new.prefix(20))"
    }

    /// A segment table that lies: order, count, lengths that add up all the same.
    private func swapSegments(_ line: inout String, _ random: inout Pseudorandom) -> String {
        let parts = line.ranges(of: #/\["[0-9a-f]{64}",\d+\]/#)
        guard parts.count > 1 else { return editValue(&line, &random) }
        var segments = parts.map { String(line[$0]) }
        let (first, second) = (random.below(segments.count), random.below(segments.count))
        switch random.below(4) {
        case 0: segments.swapAt(first, second)
        case 1: segments.remove(at: first)
        case 2: segments.insert(segments[first], at: second)
        default:
            let moved = 1 + random.below(300)
            for (index, by) in [(first, moved), (second, -moved)] {
                let comma = segments[index].lastIndex(of: ",") ?? segments[index].startIndex
                let length = Int(segments[index][comma...].dropFirst().dropLast()) ?? 0
                segments[index] = segments[index][..<comma] + ",\(length + by)]"
            }
        }
        line.replaceSubrange(
            parts[0].lowerBound..<parts[parts.count - 1].upperBound,
            with: segments.joined(separator: ",")
        )
        return "segments \(first) and \(second)"
    }

    /// The archive with another manifest, whose records and checksum are right.
    func repacked(_ text: [UInt8]) -> [UInt8] {
        let last = central[central.count - 1].lowerBound
        let place = Int(bytes.uint32(at: last + 42))
        let record = EntryRecord(
            name: Manifest.path.bytes,
            method: ZipRecords.stored,
            checksum: text.withUnsafeBytes { Checksum(of: $0).value },
            compressedSize: UInt64(text.count),
            size: UInt64(text.count),
            mode: 0o100600,
            modified: 1_700_000_000_000_000_000,
            offset: UInt64(place),
            hasWideSizes: false
        )
        let data = bytes[..<place] + record.local() + text
        let directory = bytes[central[0].lowerBound..<last] + record.central()
        let end = EndRecord(
            entries: UInt64(central.count),
            directoryOffset: UInt64(data.count),
            directorySize: UInt64(directory.count)
        )
        return Array(data + directory + end.encoded())
    }
}
