import Archives
import Changes
import Files
import Foundation
import Stores
import SystemPackage

@testable import Sync

/// What must be true of devices that have exchanged everything.
struct Oracles {
    private let simulation: Simulation
    private let container: FilePath

    init(_ simulation: Simulation, _ container: FilePath) {
        self.simulation = simulation
        self.container = container
    }

    func check() async throws {
        try checkStores()
        try checkContents()
        try checkStates()
        try checkViews()
        try checkHidden()
        try checkConflicts()
        try checkOrder()
    }

    private func fail(_ text: String) { simulation.fail(text) }

    /// Each store is whole, for SQLite and for its full-text index.
    private func checkStores() throws {
        for device in simulation.devices {
            let orphans = try device.rows("PRAGMA foreign_key_check")
            let plain = try device.plainValues()
            // Only what named no row where it was written may name none, and what is shown by a column's default.
            let emptied = try device.inspect { try $0.count("SELECT count(*) FROM emptied") }
            if orphans.count > plain.count + Int(emptied) {
                fail("\(device.name) has \(plain.count) plain values, and orphans: \(orphans)")
            }
            if !plain.changed.isEmpty { fail("\(device.name) changed values: \(plain.changed)") }
            let integrity = try device.rows("PRAGMA integrity_check")
            if integrity != ["ok"] { fail("\(device.name) is damaged: \(integrity)") }
            for name in try device.lackingFiles() { fail("\(device.name) lacks the file \(name)") }
            for check in simulation.schema.checks {
                do {
                    try device.edit(check)
                } catch {
                    fail("\(device.name): \(check): \(error)")
                }
            }
        }
    }

    /// All devices show the same rows, by their ids.
    private func checkContents() throws {
        let contents = try simulation.devices.map { try $0.content() }
        for (device, content) in zip(simulation.devices, contents).dropFirst()
        where content != contents[0] {
            for key in Set(content.keys).union(contents[0].keys)
            where content[key] != contents[0][key] {
                let (first, other) = ("\(contents[0][key] ?? [])", "\(content[key] ?? [])")
                fail("\(key): d0 has \(first.prefix(300)), \(device.name) \(other.prefix(300))")
            }
        }
    }

    /// All devices know the same, and that is what the container says.
    private func checkStates() throws {
        let content = try ContainerContent(container)
        let expected = content.states
        if simulation.seed.isMultiple(of: 10), SecondReader.isInstalled {
            let files = zip(content.paths, content.changes).map { (path: $0, file: $1) }
            if let text = try SecondReader.disagreement(on: files) { fail(text) }
        }
        for device in simulation.devices {
            let known = try device.inspect { access in
                var known: [RowID: RowState] = [:]
                try access.states.forEach { known[$0.id] = $0.state }
                return known
            }
            for id in Set(known.keys).union(expected.keys) where known[id] != expected[id] {
                fail(
                    "\(device.name) knows of \(id): \(String(describing: known[id])), the container: \(String(describing: expected[id]))"
                )
            }
        }
    }

    /// Each store shows just the view of its state, no row waits, and rows are counted right.
    private func checkViews() throws {
        for device in simulation.devices {
            let miscounted = try device.inspect { access in
                try access.count(
                    """
                    SELECT count(*) FROM tab WHERE alive + dead * 1000000 !=
                        (SELECT count(*) FILTER (WHERE cl % 2 = 1)
                            + count(*) FILTER (WHERE cl % 2 = 0 AND cl > 0) * 1000000 FROM row WHERE t = tab.t)
                    """
                )
            }
            if miscounted > 0 { fail("\(device.name) has miscounted its rows") }
            let steps = try device.planned()
            if steps > 0 { fail("\(device.name) does not show its view: \(steps) rows differ") }
            let unwritten = try unwritten(device)
            if !unwritten.isEmpty { fail("\(device.name) has not written \(unwritten)") }
        }
    }

    /// Rows that are not written, but for those whose content went with the container.
    ///
    /// Of a row that no device shows it was nowhere else: all show the same rows.
    private func unwritten(_ device: Device) throws -> [RowID] {
        try device.inspect { access in
            try access.rows("SELECT id FROM dirty").compactMap { RowID(bytes: $0.bytes(0)) }
                .filter { id in
                    guard simulation.wasEmptied else { return true }
                    let cells = try access.states.known(id)?.state.cells ?? []
                    return try cells.compactMap(\.value.reference).allSatisfy(isInContainer)
                }
        }
    }

    private func isInContainer(_ blob: BlobReference) throws -> Bool {
        let name = ContainerName.blob(blob.digest)
        let folder = container.appending("a").appending(name.folder ?? "")
        return try FileInfo.ifPresent(folder.appending(name.file)) != nil
    }

    /// A row that is alive and not shown is held, for a reason that is listed.
    private func checkHidden() throws {
        for device in simulation.devices {
            let shown = try device.content().keys
            let hidden = try device.inspect { access in
                let held = Set(try access.rows("SELECT id FROM held").map { $0.bytes(0) })
                var hidden: [String] = []
                try access.states.forEach { row in
                    guard row.state.isAlive, !held.contains(row.id.bytes) else { return }
                    let key = "\(row.table) \(row.id)"
                    if !shown.contains(key) { hidden.append(key) }
                }
                return hidden
            }
            if !hidden.isEmpty { fail("\(device.name) hides \(hidden), and does not say why") }
        }
    }

    /// Each device's last edit of a cell has won, was seen by who overwrote it, or is listed.
    private func checkConflicts() throws {
        let content = try ContainerContent(simulation.ledger, isLedger: true)
        let states = try ContainerContent(container).states
        // Whose disk was put back has lost its list as well.
        for device in simulation.devices where !simulation.forgetful.contains(device.name) {
            let (own, listed) = try device.inspect { (try $0.membership.own, try $0.listedCells()) }
            for (key, edit) in content.lastEdits(of: own) {
                guard let state = states[key.id],
                    let verdict = content.verdict(on: edit, at: key, by: own, in: state)
                else { continue }
                if !listed.contains(key) {
                    fail(
                        "\(device.name), \(own), lost an edit of \(key) that is not listed: \(verdict)\n    \(content.story(of: key))"
                    )
                }
            }
        }
    }

    /// An edit has a later stamp than all that its device knew of the cell, whatever its clock says.
    private func checkOrder() throws {
        let content = try ContainerContent(simulation.ledger, isLedger: true)
        for text in content.misorderedEdits() { fail(text) }
    }
}
