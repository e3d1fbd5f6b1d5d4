internal import Changes

/// The edit that makes one row of the two that exist after two devices gave a row another key, unseen by each other.
///
/// The state of the row keeps one of its new keys. Only the device whose key lost knows that the two are the same row.
struct Reunion {
    /// The row whose key lost, and the row that is shown in its place.
    let lost: RowID
    let won: RowID
    let table: TableName

    /// Returns the reunion that a join of another device's delta calls for; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - old: the row before the join.
    ///   - new: the row after it.
    ///   - own: the ids of this device.
    ///   - access: the state.
    /// - Throws: `SidecarError`.
    init?(
        of old: KnownRow,
        _ new: KnownRow,
        _ own: Set<DeviceID>,
        _ access: SidecarAccess
    ) throws {
        guard old.state.causalLength == new.state.causalLength,
            let lost = old.state.cell(.same), own.contains(lost.stamp.device),
            let won = new.state.cell(.same), won != lost,
            case .row(let mine) = lost.value, case .row(let theirs) = won.value, !theirs.isZero,
            // Otherwise a row was inserted at the former key since, and the other device has renamed that one.
            new.state.cells.contains(where: { $0.stamp < lost.stamp && !$0.column.isReserved }),
            try lost.stamp.clock > access.devices.heard(lost.stamp.device, by: won.stamp)
        else { return nil }
        var (last, end) = (lost, mine)
        var passed = Set([mine])
        // This device may have renamed the row again.
        while let same = try access.states.known(end)?.state.cell(.same),
            case .row(let next) = same.value, passed.insert(next).inserted
        {
            (last, end) = (same, next)
        }
        guard end != theirs, !end.isZero else { return nil }
        (self.lost, self.won) = last.loses(to: won) ? (end, theirs) : (theirs, end)
        table = new.table
    }

    /// Joins the edit with the state, and sends it.
    ///
    /// - Throws: `SidecarError`.
    func send(at stamp: Stamp, _ outgoing: Outgoing, _ access: SidecarAccess) throws {
        let state = try access.states.known(lost)?.state
        if state?.isTombstone == true { return }
        let same = Cell(.same, stamp, .row(won))
        let length = state?.causalLength ?? 1
        let delta = RowDelta(lost, RowState(causalLength: length, birth: nil, cells: [same]))
        guard try access.states.join(delta, in: table) != nil else { return }
        try access.dirty.mark(lost)
        try access.dirty.mark(won)
        try outgoing.add(delta, to: table)
    }
}
