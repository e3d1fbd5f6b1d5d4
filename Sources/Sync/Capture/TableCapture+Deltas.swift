internal import Changes
internal import Stores

// The deltas of the differences.
extension TableCapture {
    /// Sends the new, changed and deleted rows.
    func finish(_ capture: inout Capture) throws {
        try alterChildren(&capture)
        let kept = Set(renamed.values.map(\.id))
        for row in gone {
            try capture.access.dirty.markAltered(row.id)
            if !found.contains(row.id), !kept.contains(row.id) { try delete(row, &capture) }
        }
        for row in news { try send(row, &capture) }
        for row in news {
            guard let old = renamed[row.key] else { continue }
            // Rows that refer to the former key follow.
            let same = Cell(.same, capture.stamp, .row(row.id))
            let state = RowState(causalLength: old.causalLength, birth: nil, cells: [same])
            try capture.send(RowDelta(old.id, state), in: table.name)
        }
        for row in revived { try revive(row, &capture) }
        let back = Set(revived.map(\.id))
        for row in changed where !back.contains(row.old.id) {
            try capture.access.dirty.markAltered(row.old.id)
            try update(row.old, row.values, row.image, &capture)
        }
        capture.result.shadowed += gone.count + changed.count
    }

    /// Sends a new row, which is in the shadow already.
    func send(_ row: New, _ capture: inout Capture) throws {
        // A row without a known state is marked with its delta, if it needs to be.
        if try capture.access.states.known(row.id) != nil {
            try capture.access.dirty.markAltered(row.id)
        }
        try insert(row, as: returned.contains(row.id) ? .edits : kind, &capture)
        capture.result.shadowed += 1
    }

    private func delete(_ row: ShownRow, _ capture: inout Capture) throws {
        guard capture.options.meaning == .edits else {
            return try capture.access.dirty.mark(row.id)
        }
        for id in try [row.id] + capture.access.held.standingBehind(row.id) {
            guard let known = try capture.access.states.known(id), known.state.isAlive,
                id != row.id || known.state.causalLength == row.causalLength
            else { continue }
            let length = known.state.causalLength + 1
            let state = RowState(causalLength: length, deletion: capture.stamp)
            if id == row.id { try capture.listUnseen(of: row, known, state, in: table, numbers) }
            try capture.send(RowDelta(id, state), in: table.name)
            if id != row.id { try capture.access.dirty.mark(id) }
        }
        try capture.access.held.wake()
    }

    /// Restores, on all devices, a row that was deleted elsewhere; it gets its values from here.
    private func revive(_ row: New, _ capture: inout Capture) throws {
        try show(row, capture)
        try capture.access.dirty.markAltered(row.id)
        try insert(row, as: .edits, &capture)
    }

    private func insert(_ row: New, as kind: Capture.Kind, _ capture: inout Capture) throws {
        let stamp = kind == .edits ? capture.stamp : Stamp.zero
        let known = try capture.access.states.known(row.id)
        if try yields(row, known, capture) { return }
        var length: UInt32 = 1
        if let state = known?.state, kind == .edits || state.isAlive {
            length = state.isAlive ? state.causalLength : state.causalLength + 1
        }
        var cells = try zip(table.columns, capture.wires(row.values, of: table, known))
            .map { Cell($0.name, stamp, $1) }
        let former = try renamed[row.key].flatMap { try capture.access.states.known($0.id)?.state }
        if let former {
            // Other devices' edits under the former key go on to win or lose by their own times.
            cells = cells.map { $0.following(former, known?.state, of: table, capture.stamp) }
        }
        if let known, kind != .edits {
            try listLosses(of: &cells, to: known, kind, capture)
        }
        if let standIn = capture.standIns[row.id] {
            cells.append(Cell(.same, capture.stamp, .row(standIn)))
            try capture.access.dirty.mark(row.id)
        } else if kind == .edits, known?.state.cell(.same) != nil {
            // The row is itself again.
            cells.append(Cell(.same, stamp, .null))
        }
        if capture.options.matches, let state = known?.state, state.isAlive {
            // The row was found again, so only its differences are edits.
            cells.removeAll { $0.value.named.means(state.cell($0.column).map(table.stored)) }
            if cells.isEmpty { return try capture.access.dirty.mark(row.id) }
            let delta = RowState(causalLength: length, birth: nil, cells: cells)
            return try capture.send(RowDelta(row.id, delta), in: table.name)
        }
        let isKnown = kind == .seed && known?.state.isAlive == true && known?.state.birth != nil
        // If only the form of the key differs, the row gets no younger than one that waits for the key.
        let age =
            try renamed[row.key]?.hasKey(equalTo: row.values, in: table, numbers) == true
            ? former?.birth : nil
        let birth = isKnown ? nil : age ?? stamp
        let state = RowState(causalLength: length, birth: birth, cells: cells)
        if let known, !known.state.isAlive, kind != .edits {
            // The row was deleted elsewhere, so it is deleted here too.
            try capture.access.dirty.mark(row.id)
        }
        try capture.send(RowDelta(row.id, state, hint: table.hint(at: row.key)), in: table.name)
        try capture.access.held.wake()
    }

    /// Lists the values of an old or migrated row that lose to other devices' values.
    ///
    /// The group's values of a row stay, so a joining store does not send its own. A row that is identified by its
    /// content was the same on all devices at first, so later differences are edits.
    private func listLosses(
        of cells: inout [Cell],
        to known: KnownRow,
        _ kind: Capture.Kind,
        _ capture: Capture
    ) throws {
        if known.state.isAlive {
            if table.identifyingPlaces != nil || capture.options.match == .copy {
                for cell in cells { try noteSeed(cell, losesTo: known, capture) }
            }
            if kind == .seed { cells.removeAll { known.state.cell($0.column) != nil } }
        } else if kind == .migration {
            let device = capture.stamp.device
            try capture.access.removed.keep(cells.map { ($0.column, $0.value) }, of: known.id)
            for cell in cells {
                try capture.access.removed.add(
                    Conflict(.deleted, cell, of: known, lost: cell, by: device)
                )
            }
        }
    }

    /// Lists a cell without a time that loses to the known state.
    private func noteSeed(_ cell: Cell, losesTo known: KnownRow, _ capture: Capture) throws {
        let named = Cell(cell.column, cell.stamp, cell.value.named)
        guard let won = known.state.cell(cell.column),
            !table.stored(won).means(named.value),
            kind == .seed || named.loses(to: won)
        else { return }
        // A person may take it back.
        if kind == .seed { try capture.keepFile(of: cell, of: known.id, in: table.name) }
        try capture.access.removed.add(Conflict(.seed, cell, of: known, winner: won))
        try capture.access.dirty.mark(known.id)
    }

    /// Returns whether a new row is not sent after an accident: the state has it, or the local data yield.
    private func yields(_ row: New, _ known: KnownRow?, _ capture: Capture) throws -> Bool {
        guard capture.options.meaning != .edits, kind != .seed else { return false }
        guard capture.options.meaning == .container || known?.state.isAlive == true else {
            return false
        }
        try capture.access.dirty.mark(row.id)
        return true
    }

    private func update(
        _ old: ShownRow,
        _ values: [StoredValue],
        _ image: RowImage,
        _ capture: inout Capture
    ) throws {
        let known = try capture.access.states.known(old.id)
        var cells = try edits(old, values, known, capture)
        var row = old
        row.image = image
        try capture.access.shadow.show(row, in: table.name)
        // Unchanged values are sent again, whatever the differences mean.
        if capture.options.meaning == .edits {
            cells += try retold(old, values, known, capture)
        } else {
            cells = try retold(old, values, known, capture)
            try capture.access.dirty.mark(old.id)
        }
        guard !cells.isEmpty else { return }
        let isEdit = cells.contains { $0.stamp == capture.stamp }
        for id in isEdit ? try capture.access.held.standingBehind(old.id) : [] {
            let same = Cell(.same, capture.stamp, .row(old.id))
            let state = try capture.access.states.known(id)?.state
            guard let state, state.isAlive else { continue }
            let delta = RowState(causalLength: state.causalLength, birth: nil, cells: [same])
            try capture.send(RowDelta(id, delta), in: table.name)
        }
        if known?.state.isTombstone == true {
            let lost = try zip(table.columns.map(\.name), capture.wires(values, of: table))
            try capture.access.removed.keep(Array(lost), of: old.id)
        }
        try edit(old, cells, known, &capture)
        try capture.access.held.wake()
    }

    /// Returns the edited cells of a row.
    private func edits(
        _ old: ShownRow,
        _ values: [StoredValue],
        _ known: KnownRow?,
        _ capture: Capture
    ) throws -> [Cell] {
        let parts = try table.parts(of: old, numbers)
        let wires = try capture.wires(values, of: table, known)
        // The row may show values of rows that are the same.
        let isMerged = try !capture.access.held.standingBehind(old.id, why: [.same]).isEmpty
        let following = known.map { known in
            table.references.filter { $0.follows(wires, since: known.state, in: table) }
                .flatMap { $0.ownPlaces(in: table) }
        }
        var cells: [Cell] = []
        for (place, (column, number)) in zip(table.columns, numbers).enumerated() {
            let value = values[column.index]
            let part = parts[number]
            if let part {
                if part == column.part(values), capture.moved(part, of: column) == nil { continue }
            } else if value == column.defaultValue ?? .null {
                // A new column with its default is no edit.
                continue
            }
            let wire = wires[place]
            // The row that it names has another name.
            if following?.contains(place) == true { continue }
            // A value that has won is no edit either: it was written, and a crash prevented the record of it.
            if !isMerged, known?.state.cell(column.name).map(table.stored) == wire { continue }
            // A value that fills a new column on each device loses to any edit.
            cells.append(Cell(column.name, part == nil ? .zero : capture.stamp, wire))
        }
        // With the edit, a row that has the same identity becomes one with it: values that nobody edited stay.
        let claims = try !capture.access.held.standingBehind(old.id, why: [.unique]).isEmpty
        let groups = claims ? [Set(table.columns.indices)] : table.groups
        return try carrying(groups, cells, wires, known, capture)
    }

    /// Adds the columns that have to fit edited ones, so that the later edit wins all of them.
    private func carrying(
        _ groups: [Set<Int>],
        _ cells: [Cell],
        _ wires: [Value],
        _ known: KnownRow?,
        _ capture: Capture
    ) throws -> [Cell] {
        var cells = cells
        for group in groups {
            let names = group.map { table.columns[$0].name }
            guard cells.contains(where: { !$0.stamp.isZero && names.contains($0.column) }) else {
                continue
            }
            for place in group {
                let name = table.columns[place].name
                if cells.contains(where: { $0.column == name }) { continue }
                // A reference that is not shown is no edit, nor is one of a ring: its author made the ring.
                if let known, try capture.access.held.empties(name, of: known.id) { continue }
                cells.append(Cell(name, capture.stamp, wires[place]))
            }
        }
        return cells
    }

    /// Returns the cells of unchanged values that the new schema or map would show differently, to be sent again.
    private func retold(
        _ old: ShownRow,
        _ values: [StoredValue],
        _ known: KnownRow?,
        _ capture: Capture
    ) throws -> [Cell] {
        guard kind == .migration || !turned.isEmpty, let known,
            known.state.causalLength == old.causalLength,
            try !capture.access.dirty.isUnwritten(old.id)
        else { return [] }
        let (former, parts) = try (old.image.partsByColumn(), table.parts(of: old, numbers))
        let wires = try capture.wires(values, of: table)
        return zip(zip(table.columns, numbers), wires).compactMap { place, wire in
            let (column, number) = place
            guard parts[number] == column.part(values) else { return nil }
            if former[number] != parts[number], wire.stored != nil,
                let cell = known.state.cell(column.name), column.stored(cell.value) != wire,
                former[number]?.stored?.asNumber == cell.value.stored?.asNumber
            {
                // A column of another type made 5.0 of 5, then '5.0' of that: no edit, but 5 would be '5' here.
                return Cell(column.name, cell.stamp, wire)
            }
            guard turned.contains(column.name) else { return nil }
            guard let cell = known.state.cell(column.name) else {
                return wire == column.missingValue ? nil : Cell(column.name, .zero, wire)
            }
            // Only a reference that was added or removed has another value, and a file that is there now.
            let isOther =
                column.parent != nil && wire.isRow || column.parent == nil && cell.value.isRow
                || column.files != nil && wire.isFile && !cell.value.isFile
                || column.files == nil && cell.value.isFile
            guard isOther, cell.value != wire.named else { return nil }
            return Cell(column.name, capture.stamp, wire)
        }
    }

    private func edit(
        _ old: ShownRow,
        _ cells: [Cell],
        _ known: KnownRow?,
        _ capture: inout Capture
    ) throws {
        if let known, known.state.causalLength != old.causalLength {
            // Elsewhere the row was deleted, and perhaps inserted again: the edit is lost, and listed.
            let kind = known.state.isAlive ? Conflict.Kind.inserted : .deleted
            for cell in cells {
                try capture.access.removed.add(
                    Conflict(kind, cell, of: known, lost: cell, by: capture.stamp.device)
                )
            }
            try capture.access.dirty.mark(old.id)
            return
        }
        for cell in cells {
            if cell.stamp.isZero, let known { try noteSeed(cell, losesTo: known, capture) }
            // The edit overwrites a value that had arrived, and that this store has not shown.
            guard let won = known?.state.cell(cell.column),
                try capture.access.dirty.isUnwritten(old.id),
                won.stamp.device != capture.stamp.device, !cell.stamp.isZero, let known
            else { continue }
            try capture.access.removed.add(Conflict(.overwritten, won, of: known, winner: cell))
        }
        let delta = RowState(causalLength: old.causalLength, birth: nil, cells: cells)
        try capture.send(RowDelta(old.id, delta), in: table.name)
    }

    /// Marks rows that refer to the earlier names of rows, since the application may not have updated them.
    private func alterChildren(_ capture: inout Capture) throws {
        let was = gone.map { ($0, nil) } + changed.map { ($0.old, Optional($0.image)) }
        for child in capture.tables {
            for reference in child.references
            where reference.isByValue && reference.table == table.name {
                for (old, image) in was {
                    try alterChildren(child, reference, old, image, &capture)
                }
            }
        }
    }

    private func alterChildren(
        _ child: TableMapping,
        _ reference: ViewSchema.Reference,
        _ old: ShownRow,
        _ image: RowImage?,
        _ capture: inout Capture
    ) throws {
        let parts = try table.parts(of: old, numbers)
        let news = try image?.partsByColumn() ?? [:]
        var values: [StoredValue] = []
        var isSame = image != nil
        for name in reference.targets {
            guard let place = table.place(of: name) else { return }
            let part = parts[numbers[place]]
            if part != news[numbers[place]] { isSame = false }
            switch part {
            case .value(.null), nil: return
            case .value(let value): values.append(value)
            case .hash:
                // The shadow has only a long value's hash; the value itself is in the key, or unknown.
                let column = table.columns[place].place
                guard let index = table.schema.primaryKey.firstIndex(of: column),
                    case .primaryKey = old.key, index < old.key.values.count
                else {
                    return try isSame ? () : capture.access.set("view", nil)
                }
                values.append(old.key.values[index])
            }
        }
        if isSame { return }
        let terms = child.terms(of: reference, to: table)
        guard terms.count == values.count, let finder = capture.finder else { return }
        for key in try finder.keys(of: child.schema, where: terms, are: values) {
            if let id = try capture.access.shadow.id(at: key, in: child.name) {
                try capture.access.dirty.markAltered(id)
                if kind == .edits { try capture.sendNamed(by: reference, of: child, id, at: key) }
            }
        }
    }
}

extension Cell {
    /// Returns the cell of a row with another key, with the stamp of the former key's cell if the value stayed.
    fileprivate func following(
        _ formerState: RowState,
        _ presentState: RowState?,
        of table: TableMapping,
        _ stamp: Stamp
    ) -> Cell {
        guard let former = formerState.cell(column) else { return self }
        guard table.stored(former) == value.named else { return Cell(column, stamp, value) }
        let present = presentState?.cell(column) ?? former
        return present != former && !present.loses(to: former) ? self : former
    }
}
