import Archives
import Changes
import Files
import Foundation
import SystemPackage

@testable import Sync

/// Not the file system's.
typealias DeviceID = Changes.DeviceID

/// A cell of a row.
struct CellKey: Hashable, CustomStringConvertible {
    var id: RowID
    var column: ColumnName

    var description: String { "\(id).\(column)" }
}

/// All change files of a container, read by themselves.
struct ContainerContent {
    /// An edit, and the file that it is in.
    struct Edit {
        var cell: Cell
        var causalLength: UInt32
        var device: DeviceID
        var sequence: UInt64
        var file: Digest
    }

    /// How far a device said in a file to have heard others.
    private struct Word {
        var sequence: UInt64
        var file: Digest
        var seen: [SeenClock]
    }

    private(set) var changes: [ChangeFile] = []
    /// Their paths, in the same order.
    private(set) var paths: [FilePath] = []
    /// All rows as these files say them.
    private(set) var states: [RowID: RowState] = [:]
    private var edits: [CellKey: [Edit]] = [:]
    private var deletes: [RowID: [(stamp: Stamp, length: UInt32, file: ChangeHeader)]] = [:]
    /// How far each device said to have heard each other one, by its files.
    private var heard: [DeviceID: [Word]] = [:]

    /// Reads what is there now, or all edits that ever were.
    init(_ container: FilePath, isLedger: Bool = false) throws {
        let folders =
            isLedger ? [container] : ["log", "base"].map { container.appending("a").appending($0) }
        for path in folders {
            guard let directory = try? Directory.open(path) else { continue }
            for name in try directory.names() {
                guard let text = String(validating: name.bytes, as: UTF8.self),
                    text.hasSuffix(".changes") || text.hasSuffix(".part") && !isLedger
                else { continue }
                let file = try ChangeFile(
                    reading: File.contents(of: path.appending(text), limit: 1 << 26),
                    name: text,
                    inflate: RawDeflate.inflate
                )
                // Who wrote what is in the files that a bundle replaced.
                if isLedger, !file.header.replaces.isEmpty { continue }
                changes.append(file)
                paths.append(path.appending(text))
            }
        }
        for file in changes {
            let header = file.header
            heard[header.device, default: []]
                .append(Word(sequence: header.sequence, file: file.id, seen: header.seen))
            try file.forEachRow { _, delta in
                states[delta.id] = (states[delta.id] ?? .unknown).joined(with: delta.state)
                if !delta.state.isAlive {
                    deletes[delta.id, default: []]
                        .append((delta.state.deletion, delta.state.causalLength, header))
                }
                for cell in delta.state.cells {
                    let edit = Edit(
                        cell: cell,
                        causalLength: delta.state.causalLength,
                        device: header.device,
                        sequence: header.sequence,
                        file: file.id
                    )
                    edits[CellKey(id: delta.id, column: cell.column), default: []].append(edit)
                }
            }
        }
    }

    /// Returns the last edit of each cell by a device, but seeds and what was merged by rule.
    func lastEdits(of device: DeviceID) -> [CellKey: Edit] {
        edits.compactMapValues { all in
            all.filter { $0.cell.stamp.device == device }.max { $0.cell.stamp < $1.cell.stamp }
        }.filter { !$0.key.column.isReserved }
    }

    /// Returns why an edit is lost without its winner having seen it; `nil` if it is not so.
    ///
    /// The row's state is that in the end: a deletion may have been lost again before anybody read it.
    func verdict(
        on edit: Edit,
        at key: CellKey,
        by device: DeviceID,
        in state: RowState
    ) -> String? {
        // Somebody who had seen it wrote another value, or somebody wrote the same one later: what became
        // of that is that one's affair.
        let isSuperseded = (edits[key] ?? []).contains { other in
            other.causalLength == edit.causalLength && edit.cell.stamp < other.cell.stamp
                && (other.cell.value == edit.cell.value
                    || edit.cell.stamp.clock <= sees(device, other.device, upTo: other.sequence))
        }
        if isSuperseded { return nil }
        if state.causalLength > edit.causalLength {
            // Whoever deleted it first: if that one had seen the edit, it meant to.
            let delete = (deletes[key.id] ?? [])
                .filter { $0.length == edit.causalLength + 1 }
            if delete.isEmpty { return nil }
            if delete.contains(where: { hasSeen(edit.cell.stamp, $0.file) }) { return nil }
            return "deleted"
        }
        guard let winner = state.cell(key.column), winner.stamp != edit.cell.stamp,
            winner.value != edit.cell.value
        else { return nil }
        let file = edits[key]?.first { $0.cell.stamp == winner.stamp }
        guard let file else { return nil }
        if winner.stamp.device == device { return nil }
        let seen = sees(device, file.device, upTo: file.sequence)
        return edit.cell.stamp.clock <= seen ? nil : "to \(winner)"
    }

    /// Returns all that was sent of a cell, and of its row's deletion: by whom, in which file, and when; and what
    /// these devices said to have heard.
    func story(of key: CellKey) -> String {
        let edits = (edits[key] ?? []).map { edit in
            "\(edit.device) \(edit.sequence): \(edit.cell) in life \(edit.causalLength)"
        }
        let deletions = (deletes[key.id] ?? []).map { delete in
            "\(delete.file.device) \(delete.file.sequence): deleted at \(delete.stamp), \(delete.length)"
        }
        let heard = Set((self.edits[key] ?? []).map(\.device)).flatMap { device in
            (self.heard[device] ?? []).map { file in
                let clocks = file.seen.map { "\($0.device) \($0.clock)" }.joined(separator: ", ")
                return "\(device) \(file.sequence): had heard \(clocks)"
            }
        }
        return (edits + deletions + heard).joined(separator: "\n    ")
    }

    /// Returns the edits of cells that have no later stamp than what their device had heard of by then.
    ///
    /// Such an edit loses to what it was made over, whatever the devices' clocks say.
    func misorderedEdits() -> [String] {
        var found: [String] = []
        for (key, all) in edits where !key.column.isReserved {
            for late in Self.firstWritten(all) {
                for early in all where early.cell.stamp >= late.cell.stamp && wasKnown(early, late)
                {
                    found.append(
                        """
                        \(late.cell) of \(key) was made over \(early.cell), and is older:
                            \(story(of: key))
                        """
                    )
                }
            }
        }
        return found
    }

    /// Returns whether the device of an edit had heard of another device's edit of the same cell.
    private func wasKnown(_ early: Edit, _ late: Edit) -> Bool {
        early.causalLength == late.causalLength && early.device != late.device
            && early.cell.stamp.device == early.device
            && early.cell.stamp.clock <= surelySees(early.device, late)
    }

    /// Returns each edit by the device that made it, as it was sent first.
    private static func firstWritten(_ edits: [Edit]) -> some Collection<Edit> {
        Dictionary(
            edits.filter { $0.cell.stamp.device == $0.device }.map { ($0.cell.stamp, $0) },
            uniquingKeysWith: { $0.sequence <= $1.sequence ? $0 : $1 }
        ).values
    }

    private func hasSeen(_ stamp: Stamp, _ header: ChangeHeader) -> Bool {
        header.device == stamp.device
            || stamp.clock <= sees(stamp.device, header.device, upTo: header.sequence)
    }

    private func sees(_ device: DeviceID, _ by: DeviceID, upTo sequence: UInt64) -> UInt64 {
        var clock: UInt64 = 0
        for file in heard[by] ?? [] where file.sequence <= sequence {
            for seen in file.seen where seen.device == device { clock = max(clock, seen.clock) }
        }
        return clock
    }
    /// Returns how far a device was heard by the author of an edit, as it was made.
    ///
    /// A sidecar that was rolled back, and whose later files are not listed yet, writes other files by the same
    /// numbers: from there on, none of them shows what the author of another had heard.
    private func surelySees(_ device: DeviceID, _ edit: Edit) -> UInt64 {
        let words = heard[edit.device] ?? []
        let fork = Dictionary(grouping: words, by: \.sequence)
            .filter { Set($0.value.map(\.file)).count > 1 }.keys.min()
        let known = words.filter { word in
            word.file == edit.file
                || word.sequence < min(fork ?? .max, edit.sequence)
        }
        return known.flatMap(\.seen).filter { $0.device == device }.map(\.clock).max() ?? 0
    }
}
