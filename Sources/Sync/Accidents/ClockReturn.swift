internal import Changes
internal import GRDB

/// The return of a clock that is so far ahead that other devices refuse all that it stamps.
///
/// The wall clock here was wrong when such stamps were made or taken. The cells that have them get a stamp of now, as
/// if they were edited.
struct ClockReturn {
    let access: SidecarAccess
    /// The current time, in milliseconds since 1970.
    let now: Int64

    /// Sets the clock back if it is too far ahead.
    ///
    /// - Parameter outgoing: the writer of the rows with new stamps.
    /// - Throws: `SidecarError`, `FileError`.
    func run(_ outgoing: Outgoing) throws {
        let horizon = HybridClock.horizon(at: now)
        guard try access.membership.clock.last >= horizon else { return }
        var clock = HybridClock()
        var ahead: [KnownRow] = []
        try access.states.forEach { row in
            let clocks = row.state.clocks
            for reading in clocks where reading < horizon { clock.observe(reading) }
            if clocks.contains(where: { $0 >= horizon }) { ahead.append(row) }
        }
        let reading = clock.tick(now: now, modified: now)
        try access.membership.setClock(clock)
        let stamp = Stamp(clock: reading, device: try access.membership.own)
        outgoing.clock = reading
        for row in ahead {
            let state = row.state.stamped(stamp, from: horizon)
            let delta = RowDelta(row.id, state, hint: row.delta.hint)
            try access.states.save(KnownRow(table: row.table, delta: delta))
            try access.dirty.markAltered(row.id)
            try outgoing.add(delta, to: row.table)
        }
        try forget(from: Int64(horizon), reading: Int64(reading))
        try outgoing.finish()
    }

    /// Forgets readings of others, which would go out in headers and cards.
    private func forget(from horizon: Int64, reading: Int64) throws {
        try access.run("UPDATE device SET clock = 0, told = 0 WHERE clock >= ?", [horizon])
        try access.run("UPDATE seen SET clock = 0 WHERE clock >= ?", [horizon])
        try access.run("DELETE FROM word WHERE clock >= ?1 OR heard >= ?1", [horizon])
        for key in ["map_clock", "next_clock"] {
            guard let clock = try access.integer(key), clock >= horizon else { continue }
            try access.set(key, reading)
        }
    }
}
