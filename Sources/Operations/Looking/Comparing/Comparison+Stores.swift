internal import Files
internal import Stores

extension Comparison {
    /// Compares a store row by row, or as a file if one of its states cannot be read.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - isWhole: whether to compare it as a file as well.
    ///   - outcome: the outcome, which is updated.
    ///   - report: called with each difference.
    /// - Throws: see `CompareStates.run`.
    func compareStore(
        at path: RelativePath,
        isWhole: Bool,
        _ outcome: inout CompareStates.Outcome,
        _ report: (Difference) throws -> Void
    ) throws {
        defer { for state in [old, new] { state.close(path) } }
        guard let pair = try pair(at: path, &outcome, report) else {
            return try compareFile(at: path, &outcome, report)
        }
        if isWhole { try compareFile(at: path, &outcome, report) }
        do {
            if try compare(pair, at: path, report) { outcome.differs = true }
        } catch  where error.isOfOneStore {
            try noteUnread(path, in: culprit(of: error, pair), error, &outcome, report)
            try compareFile(at: path, &outcome, report)
        }
    }

    /// Reports the statements that turn the old store into the new one, for the only store that differs.
    ///
    /// - Throws: see `CompareStates.run`.
    func reportStatements(
        _ paths: [RelativePath],
        _ outcome: inout CompareStates.Outcome,
        _ report: (Difference) throws -> Void
    ) throws -> CompareStates.Outcome {
        var scripts: [(path: RelativePath, script: ChangeScript)] = []
        for path in paths {
            guard let pair = try pair(at: path, &outcome, report) else { continue }
            do {
                let script = try ChangeScript(diff(pair, at: path))
                if try !script.isEmpty { scripts.append((path, script)) }
            } catch  where error.isOfOneStore {
                try noteUnread(path, in: culprit(of: error, pair), error, &outcome, report)
            }
        }
        guard scripts.count <= 1 else {
            throw LookingError.severalStores(
                in: "the states that differ",
                stores: scripts.map(\.path.description)
            )
        }
        try scripts.first?.script.write { try report(.statement($0)) }
        outcome.differs = !scripts.isEmpty || !outcome.unread.isEmpty
        return outcome
    }

    // MARK: - Readable stores

    private typealias Pair = (old: ReadableStore?, new: ReadableStore?)

    /// Opens both states of a store; `nil` if the store must be compared as a file.
    private func pair(
        at path: RelativePath,
        _ outcome: inout CompareStates.Outcome,
        _ report: (Difference) throws -> Void
    ) throws -> Pair? {
        // A store that was damaged when it was backed up counts as a file in that backup.
        let isFileInOne = [old, new].contains { $0.items[path]?.isStore == false }
        if isFileInOne, try hasSameBytes(path) {
            treatAsFile(path)
            return nil
        }
        var stores: [ReadableStore?] = []
        for state in [old, new] {
            do {
                stores.append(try state.store(path))
            } catch  where error.isOfOneStore {
                if isFileInOne {
                    treatAsFile(path)
                } else {
                    try noteUnread(path, in: state, error, &outcome, report)
                }
                return nil
            }
        }
        return (stores[0], stores[1])
    }

    /// Records that a store is compared as a file; reports it unless both files are identical.
    private func noteUnread(
        _ path: RelativePath,
        in state: ComparedState,
        _ error: any Error,
        _ outcome: inout CompareStates.Outcome,
        _ report: (Difference) throws -> Void
    ) throws {
        guard try !hasSameBytes(path) else { return treatAsFile(path) }
        treatAsFile(path)
        let store = UnreadStore(
            path: path.description,
            isLive: state.isLive,
            place: state.place,
            error: error
        )
        outcome.unread.append(store)
        try report(.unread(store))
    }

    private func treatAsFile(_ path: RelativePath) {
        old.treatAsFile(path, as: new)
        new.treatAsFile(path, as: old)
    }

    /// Whether both states have the same file, whatever its times are.
    private func hasSameBytes(_ path: RelativePath) throws -> Bool {
        try old.hasSameContent(path, as: new, readsAnyway: true, context)
    }

    /// Returns the state whose rows could not be read: the one whose schema cannot be read, or else by the error, since
    /// only a backup's bytes are verified.
    private func culprit(of error: any Error, _ pair: Pair) -> ComparedState {
        for (state, store) in [(old, pair.old), (new, pair.new)] {
            guard let store, (try? store.reading { try store.schema() }) == nil else { continue }
            return state
        }
        if case StoreError.damaged = error { return old.isLive ? old : new }
        return old.isLive ? new : old
    }

    // MARK: - Rows

    /// Reads the schemas of a store's two states; a missing state is an empty store.
    private func diff(_ pair: Pair, at path: RelativePath) throws -> StoreDiff {
        try StoreDiff(
            from: pair.old ?? ReadableStore.empty(),
            to: pair.new ?? ReadableStore.empty(),
            sharing: old.segments(of: path, sharedWith: new),
            check: context.checkCancellation
        )
    }

    /// Compares a store's two states, and returns whether they differ.
    private func compare(
        _ pair: Pair,
        at path: RelativePath,
        _ report: (Difference) throws -> Void
    ) throws -> Bool {
        guard pair.old != nil || pair.new != nil else { return false }
        var store = StoreDifference(
            path: path.description,
            change: pair.old == nil ? .added : pair.new == nil ? .removed : .changed
        )
        let diff = try diff(pair, at: path)
        let comparison = try StoreComparison(
            of: diff,
            named: path.description,
            options: options,
            context: context
        )
        var isReported = false
        func reportStore() throws {
            guard !isReported else { return }
            isReported = true
            try report(.store(store))
        }
        if options.table == nil {
            if store.change == .changed { store.numbers = try diff.numbers() }
            if store.change != .changed || !store.numbers.isEmpty { try reportStore() }
        }
        try comparison.run { difference in
            try reportStore()
            try report(difference)
        }
        return isReported
    }
}

extension Error {
    /// Whether the error concerns only one store, so that others can still be read.
    fileprivate var isOfOneStore: Bool {
        switch self as any Error {
        case StoreError.noSpace: false
        case is StoreError: true
        default: reportsDamage
        }
    }
}
