internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// A store of a state that can be opened.
struct SurveyedStore {
    /// The store's path, printable.
    var path: String
    var mark: StoreMark
    /// The name of the state, for messages.
    var place: String
    var open: () throws -> StoreSnapshot
}

/// The states of a history, oldest first: what is known of each, and which of them cannot be read.
final class HistoryStates {
    private struct State {
        var place: RowHistory.Place
        /// `nil` before the state is surveyed, and if it cannot be read.
        var marks: StoreMarks?
        /// The newer state with the same content, which is read in place of this one.
        var source: Int?
        /// The reason why the state cannot be read.
        var failure: String?
        /// The reasons why some of its stores cannot be read, by path.
        var broken: [ExactString: String] = [:]
    }

    private struct Opened {
        var marks: StoreMarks
        /// The errors of files that could not be read; there may be stores among them.
        var failures: [any Error] = []
        var name: String
        var open: (String) throws -> StoreSnapshot
    }

    /// The failures to read states and stores, each reported once.
    private(set) var problems: [Problem] = []
    private var states: [State]
    private let folder: BackupFolder
    private let stores: FilePath
    private let context: OperationContext
    /// The reason why no remote archive can be read any more.
    private var unreachable: String?

    init(
        _ places: [RowHistory.Place],
        in folder: BackupFolder,
        with stores: FilePath,
        _ context: OperationContext
    ) {
        states = places.map { State(place: $0) }
        self.folder = folder
        self.stores = stores
        self.context = context
    }

    // MARK: - Survey

    /// Lists and searches the stores of a state, after the newer states.
    ///
    /// Skips a backup that has the same content as the next newer one.
    ///
    /// - Parameters:
    ///   - index: the state's index.
    ///   - found: called with the paths of all its stores.
    ///   - body: called for each of these stores.
    /// - Throws: `CancellationError`; errors of `body` that are not about the state.
    func survey(
        _ index: Int,
        found: @escaping ([String]) -> Void,
        _ body: @escaping (SurveyedStore) throws -> Void
    ) async throws {
        try context.checkCancellation()
        if let unreachable, isElsewhere(index) {
            states[index].failure = unreachable
            return
        }
        if index + 1 < states.count, hasSameContent(index, index + 1) {
            states[index].marks = states[index + 1].marks
            states[index].source = states[index + 1].source ?? index + 1
            return
        }
        try await tolerating(index) {
            try await look(at: index, context) { [self] opened in
                states[index].marks = opened.marks
                problems += opened.failures.map {
                    Problem(unreadable: name(of: index), explain($0))
                }
                let paths = opened.marks.readable
                found(paths)
                for path in paths {
                    try context.checkCancellation()
                    guard let mark = opened.marks[path] else { continue }
                    let store = SurveyedStore(
                        path: path,
                        mark: mark,
                        place: opened.name,
                        open: { try opened.open(path) }
                    )
                    _ = try tolerating(index, store: path) { try body(store) }
                }
            }
        }
    }

    private func isElsewhere(_ index: Int) -> Bool {
        guard case .backup(let backup) = states[index].place else { return false }
        return !backup.isOnThisMachine
    }

    /// Whether two backups are known to be equal except for times.
    private func hasSameContent(_ index: Int, _ other: Int) -> Bool {
        guard states[other].marks != nil, case .backup(let left) = states[index].place,
            case .backup(let right) = states[other].place, let content = left.content
        else { return false }
        return content == right.content && left.exclusions == right.exclusions
            && !left.isPartial && !right.isPartial
    }

    private func look<Result>(
        at index: Int,
        _ context: OperationContext,
        _ body: @escaping (Opened) throws -> Result
    ) async throws -> Result {
        switch states[index].place {
        case .live:
            return try await LiveStores(stores, context: context).look { live in
                let survey = try live.survey()
                let stores = try live.storesByPath(survey)
                let marks = StoreMarks(
                    live: stores.keys.map(\.text),
                    failures: survey.failures,
                    number: index
                )
                return try body(
                    Opened(
                        marks: marks,
                        failures: survey.failures.map(\.error),
                        name: live.name
                    ) { try live.store($0, of: stores) }
                )
            }
        case .backup(let backup):
            let opened = try await OpenedBackup(
                backup,
                in: folder.home(of: backup),
                context: context
            )
            return try await opened.look { opened in
                let contents = try opened.contents()
                let marks = try StoreMarks(
                    of: contents,
                    leavingOut: opened.plan.header?.excluded,
                    number: index
                )
                let items = Dictionary(contents.stores.map { ($0.path.exact, $0.items) }) { $1 }
                return try body(
                    Opened(marks: marks, name: opened.name) {
                        try opened.store($0, of: items[$0.exact] ?? [])
                    }
                )
            }
        }
    }

    // MARK: - Following

    /// Reports to `trails` what a state contains of the rows found.
    ///
    /// The older states must come first.
    ///
    /// - Throws: `CancellationError`.
    func follow(_ trails: RowTrails, at index: Int) async throws {
        try context.checkCancellation()
        let state = states[index]
        guard let marks = state.marks, state.failure == nil else {
            for path in trails.stores {
                trails.take(.unknown(state.failure ?? ""), of: path, at: state.place)
            }
            return
        }
        let unread = trails.stores.filter { trails.take(marks[$0], of: $0, at: state.place) }
        guard !unread.isEmpty else { return }
        let source = state.source ?? index
        // The survey has already reported this backup.
        var quiet = context
        quiet.report = { _ in }
        try await tolerating(source) {
            try await look(at: source, quiet) { [self] opened in
                for path in unread {
                    try context.checkCancellation()
                    let isRead = try tolerating(source, store: path) {
                        try trails.read(ReadableStore(opened.open(path)), path, at: state.place) {
                            guard Self.isOfTheState($0) else { throw $0 }
                            return fail(source, store: path, $0)
                        }
                    }
                    if !isRead {
                        let reason = states[source].broken[path.exact] ?? ""
                        trails.take(.unknown(reason), of: path, at: state.place)
                    }
                }
            }
        }
        guard let failure = states[source].failure else { return }
        for path in unread { trails.take(.unknown(failure), of: path, at: state.place) }
    }

    // MARK: - Failures

    /// Runs `body`; if the state cannot be read, records that.
    private func tolerating(_ index: Int, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error where Self.isOfTheState(error) {
            let isAway = error.isUnreachable && isElsewhere(index)
            let reason = explain(error)
            states[index].failure = withoutName(reason, index)
            states[index].marks = nil
            if isAway { unreachable = reason }
            problems.append(Problem(unreadable: name(of: index), reason))
        }
    }

    /// Runs `body`; if a store of the state cannot be read, records that.
    ///
    /// - Returns: whether the store could be read.
    private func tolerating(
        _ index: Int,
        store path: String,
        _ body: () throws -> Void
    ) throws -> Bool {
        do {
            try body()
            return true
        } catch let error where Self.isOfTheState(error) && !error.isUnreachable {
            _ = fail(index, store: path, error)
            return false
        }
    }

    /// Records once that a store cannot be read, and returns the reason.
    private func fail(_ index: Int, store path: String, _ error: any Error) -> String {
        if let reason = states[index].broken[path.exact] { return reason }
        let reason = explain(error)
        let nameless = withoutName(reason, index)
        states[index].broken[path.exact] = nameless
        problems.append(Problem(unreadable: name(of: index), reason))
        return nameless
    }

    /// Returns a reason without the backup's name, so that consecutive backups with the same reason compare equal.
    private func withoutName(_ reason: String, _ index: Int) -> String {
        guard case .backup(let backup) = states[index].place else { return reason }
        return [backup.name, backup.displayName].reduce(reason) {
            $0.replacing("'\($1)'", with: "it")
        }
    }

    private func name(of index: Int) -> String {
        switch states[index].place {
        case .backup(let backup): backup.name
        case .live: printable(stores)
        }
    }

    /// Whether an error means that a state cannot be read, not that the query is wrong or the run is cancelled.
    private static func isOfTheState(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is QueryError: false
        case LookingError.badCondition, LookingError.noColumn: false
        default: true
        }
    }
}
