/// A column's value in a row, with the stamp of the write.
public struct Cell: Hashable, Sendable {
    public let column: ColumnName
    public let stamp: Stamp
    public let value: Value

    public init(_ column: ColumnName, _ stamp: Stamp, _ value: Value) {
        self.column = column
        self.stamp = stamp
        self.value = value
    }

    /// Returns whether it loses to another cell of its column: by clock, then device, then bytes.
    public func loses(to other: Cell) -> Bool {
        if stamp != other.stamp { return stamp < other.stamp }
        return value != other.value && value.precedes(other.value)
    }
}

/// All or part of the knowledge about a row; a delta is a state with less knowledge.
///
/// States form a semilattice: `joined(with:)` is commutative, associative and idempotent. So the order, repetition
/// and grouping of files do not matter.
public struct RowState: Hashable, Sendable {
    /// The number of inserts and deletes so far: odd if alive, even if deleted, 0 if nothing is known.
    public let causalLength: UInt32
    /// The least stamp of the inserts at this causal length; `nil` if none has arrived yet.
    public let birth: Stamp?
    /// The greatest stamp of the deletes; zero while the row is alive.
    public let deletion: Stamp
    /// The known cells, rising by column; empty for a deleted row.
    public let cells: [Cell]

    /// The state of a row of which nothing is known: it changes nothing in a join.
    public static let unknown = RowState(unchecked: 0, birth: nil, deletion: .zero, cells: [])

    /// Creates the state of a row that is alive.
    ///
    /// - Parameters:
    ///   - causalLength: an odd number.
    ///   - birth: the stamp of its insert; `nil` if this is an update only.
    ///   - cells: the cells in any order, each column once.
    public init(causalLength: UInt32 = 1, birth: Stamp?, cells: [Cell]) {
        precondition(causalLength % 2 == 1, "only rows that are alive have cells")
        var cells = cells
        if !cells.isRising {
            cells.sort { $0.column < $1.column }
            precondition(cells.isRising, "a column has one cell")
        }
        self.init(unchecked: causalLength, birth: birth, deletion: .zero, cells: cells)
    }

    /// Creates the state of a deleted row.
    ///
    /// - Parameters:
    ///   - causalLength: an even number above 0.
    ///   - deletion: the stamp of its delete.
    public init(causalLength: UInt32 = 2, deletion: Stamp) {
        precondition(causalLength % 2 == 0 && causalLength > 0, "a delete makes the length even")
        self.init(unchecked: causalLength, birth: nil, deletion: deletion, cells: [])
    }

    /// Creates a state from consistent parts, without checks.
    init(unchecked causalLength: UInt32, birth: Stamp?, deletion: Stamp, cells: [Cell]) {
        self.causalLength = causalLength
        self.birth = birth
        self.deletion = deletion
        self.cells = cells
    }

    /// Whether the row is alive, shown or held.
    public var isAlive: Bool { causalLength % 2 == 1 }

    /// Whether the row existed and was deleted.
    public var isTombstone: Bool { !isAlive && causalLength > 0 }

    /// Returns the cell of a column, if it is known.
    public func cell(_ column: ColumnName) -> Cell? {
        var low = 0
        var high = cells.count
        while low < high {
            let middle = (low + high) / 2
            if cells[middle].column < column { low = middle + 1 } else { high = middle }
        }
        return low < cells.count && cells[low].column == column ? cells[low] : nil
    }

    /// Returns the tombstone after a delete; `nil` if the row is not alive, or was deleted too often.
    public func deleted(at stamp: Stamp) -> RowState? {
        guard isAlive, causalLength < .max else { return nil }
        return RowState(causalLength: causalLength + 1, deletion: stamp)
    }

    /// Returns the state after an insert; `nil` if the row is already alive.
    public func inserted(at stamp: Stamp, cells: [Cell]) -> RowState? {
        if isAlive { return nil }
        return RowState(causalLength: causalLength + 1, birth: stamp, cells: cells)
    }

    /// The clocks of its stamps.
    public var clocks: [UInt64] { [birth?.clock ?? 0, deletion.clock] + cells.map(\.stamp.clock) }

    /// Returns the state with another stamp in place of those from a clock on.
    public func stamped(_ stamp: Stamp, from clock: UInt64) -> RowState {
        func stamped(_ old: Stamp) -> Stamp { old.clock >= clock ? stamp : old }
        return RowState(
            unchecked: causalLength,
            birth: birth.map(stamped),
            deletion: stamped(deletion),
            cells: cells.map { Cell($0.column, stamped($0.stamp), $0.value) }
        )
    }

    /// Returns the combined knowledge of two states.
    public func joined(with other: RowState) -> RowState {
        if causalLength != other.causalLength {
            return causalLength < other.causalLength ? other : self
        }
        return RowState(
            unchecked: causalLength,
            birth: earlier(birth, other.birth),
            deletion: max(deletion, other.deletion),
            cells: joinedCells(cells, other.cells)
        )
    }
}

/// A part of the knowledge about one row, as files carry it.
public struct RowDelta: Hashable, Sendable {
    public let id: RowID
    public let state: RowState
    /// The row's local key as a number on the device that wrote it; other devices use it if it is free.
    public let hint: Value?

    public init(_ id: RowID, _ state: RowState, hint: Value? = nil) {
        self.id = id
        self.state = state
        self.hint = state.isAlive ? hint : nil
    }

    /// Returns the combined knowledge of two deltas of one row.
    ///
    /// The lesser hint at the greater causal length stays.
    public func joined(with other: RowDelta) -> RowDelta {
        precondition(id == other.id, "only deltas of one row can be joined")
        let state = state.joined(with: other.state)
        let hints = [self, other].filter { $0.state.causalLength == state.causalLength }
            .compactMap(\.hint)
        return RowDelta(id, state, hint: hints.min { $0.precedes($1) })
    }
}

extension [Cell] {
    /// Whether each column is greater than the one before it.
    fileprivate var isRising: Bool {
        withUnsafeBufferPointer { cells in
            for index in cells.indices.dropFirst()
            where cells[index - 1].column >= cells[index].column {
                return false
            }
            return true
        }
    }
}

private func earlier(_ left: Stamp?, _ right: Stamp?) -> Stamp? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}

private func joinedCells(_ left: [Cell], _ right: [Cell]) -> [Cell] {
    if left.isEmpty { return right }
    if right.isEmpty { return left }
    var cells: [Cell] = []
    cells.reserveCapacity(Swift.max(left.count, right.count))
    var (i, j) = (0, 0)
    while i < left.count, j < right.count {
        if left[i].column == right[j].column {
            cells.append(left[i].loses(to: right[j]) ? right[j] : left[i])
            i += 1
            j += 1
        } else if left[i].column < right[j].column {
            cells.append(left[i])
            i += 1
        } else {
            cells.append(right[j])
            j += 1
        }
    }
    cells += left[i...]
    cells += right[j...]
    return cells
}

/// The time and author of a write: a hybrid logical clock's reading, then the device.
///
/// The greater stamp is the later edit, on every device alike.
public struct Stamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970 times 2¹⁶, or a count beyond them; below `HybridClock.limit`.
    public let clock: UInt64
    public let device: DeviceID

    public init(clock: UInt64, device: DeviceID) {
        self.clock = clock
        self.device = device
    }

    /// The stamp of rows that nobody edited: it loses to any edit.
    public static let zero = Stamp(clock: 0, device: .zero)

    /// Whether it is the stamp of rows that nobody edited.
    public var isZero: Bool { clock == 0 && device.isZero }

    public static func < (left: Stamp, right: Stamp) -> Bool {
        left.clock != right.clock ? left.clock < right.clock : left.device < right.device
    }
}
