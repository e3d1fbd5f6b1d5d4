internal import Backups
internal import Stores

/// The history of one row so far; the states are added oldest first.
struct RowTrail {
    /// The status of the row in one state.
    enum Sight {
        case there(KeptRow)
        case absent
        /// The reason why the status is not known.
        case unknown(String)
    }

    typealias Place = RowHistory.Place

    private(set) var events: [RowHistory.Event] = []
    private(set) var first: Place?
    private(set) var last: Place?
    private(set) var beforeChange: Place?
    private(set) var life: [RowHistory.Mark] = []
    private(set) var newest: Place?
    private(set) var end = RowHistory.End.gone
    /// The row as the last state that contains it has it.
    private(set) var row: KeptRow?
    /// Whether the row existed in the last state whose status is known.
    private var isThere = false

    /// Adds the row's status in the next state.
    mutating func take(_ sight: Sight, at place: Place) {
        newest = place
        switch sight {
        case .there(let row): takeRow(row, at: place)
        case .absent:
            life.append(isThere ? .gone : .absent)
            if isThere {
                events.append(RowHistory.Event(place: place, change: .gone, last: last))
            }
            (isThere, end) = (false, .gone)
        case .unknown(let reason):
            life.append(.unknown)
            if end == .unknown, let event = events.last, case .unknown(_, reason) = event.change {
                events[events.count - 1].change = .unknown(until: place, reason: reason)
            } else {
                let change = RowHistory.Change.unknown(until: place, reason: reason)
                let known = isThere ? last : nil
                events.append(RowHistory.Event(place: place, change: change, last: known))
            }
            end = .unknown
        }
    }

    /// Adds a state whose store equals that of the previous state.
    mutating func takeSame(at place: Place) {
        if end == .unknown, let event = events.last, case .unknown(_, let reason) = event.change {
            events[events.count - 1].change = .unknown(until: place, reason: reason)
        }
        if end == .there { last = place }
        life.append(end == .unknown ? .unknown : end == .there ? .same : .absent)
        newest = place
    }

    private mutating func takeRow(_ next: KeptRow, at place: Place) {
        let changes = row?.changes(to: next) ?? []
        life.append(row == nil || !isThere ? .appeared : changes.isEmpty ? .same : .changed)
        if !changes.isEmpty { beforeChange = last }
        if row == nil {
            events.append(RowHistory.Event(place: place, change: .first(next.cells)))
        } else if !isThere {
            events.append(RowHistory.Event(place: place, change: .back(changes)))
        } else if !changes.isEmpty {
            events.append(RowHistory.Event(place: place, change: .changed(changes)))
        }
        first = first ?? place
        (last, row) = (place, next)
        (isThere, end) = (true, .there)
    }
}
