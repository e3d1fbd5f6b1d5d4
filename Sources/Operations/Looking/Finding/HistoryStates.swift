internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// A store of a state, which may be opened.
struct SurveyedStore {
    /// Its path, printable.
    var path: String
    var mark: StoreMark
    /// The paths of all stores of the state.
    var all: [String]
    /// The state, in messages.
    var place: String
    var open: () throws -> StoreSnapshot
}

/// The states of a history, in the order of time: what is known of each, and what cannot be read.
final class HistoryStates {
    private struct State {
        var place: RowHistory.Place
        /// `nil` before it was surveyed, and if it cannot be read.
        var marks: StoreMarks?
        /// The newer state that has the same content, and was looked at in its place.
        var source: Int?
        /// Why it cannot be read.
        var failure: String?
        /// Why some of its stores cannot be read, by their paths.
        var broken: [String: String] = [:]
    }

    /// A state that is open.
    private struct Opened {
        var marks: StoreMarks
        var name: String
        var open: (String) throws -> StoreSnapshot
    }

    /// What could not be read, each told once.
    private(set) var problems: [Problem] = []
    private var states: [State]
    private let folder: BackupFolder
    private let stores: FilePath
    private let context: OperationContext
    /// Why no archive elsewhere can be read any more.
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

    /// Looks at a state, after the newer ones, and calls `body` for each of its stores; not for those of a backup that
    /// has the content of the newer one.
    ///
    /// - Throws: `CancellationError`; errors of `body` that are not about the state.
    func survey(_ index: Int, _ body: @escaping (SurveyedStore) throws -> Void) async throws {
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
                let paths = opened.marks.readable
                for path in paths {
                    guard let mark = opened.marks[path] else { continue }
                    let store = SurveyedStore(
                        path: path,
                        mark: mark,
                        all: paths,
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

    /// Whether two backups are known to be the same but for times.
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
                let marks = StoreMarks(live: try live.stores(), number: index)
                return try body(Opened(marks: marks, name: live.name) { try live.store($0) })
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
                return try body(
                    Opened(marks: marks, name: opened.name) { path in
                        let items = contents.stores.first { $0.path == path }?.items
                        return try opened.store(path, of: items ?? [])
                    }
                )
            }
        }
    }

    // MARK: - Following

    /// Tells what a state, after the older ones, says of rows that were found.
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
        // It was told before what is to be told of it.
        var quiet = context
        quiet.report = { _ in }
        try await tolerating(source) {
            try await look(at: source, quiet) { [self] opened in
                for path in unread {
                    let isRead = try tolerating(source, store: path) {
                        try trails.read(ReadableStore(opened.open(path)), path, at: state.place) {
                            guard Self.isOfTheState($0) else { throw $0 }
                            return fail(source, store: path, $0)
                        }
                    }
                    if !isRead {
                        let reason = states[source].broken[path] ?? ""
                        trails.take(.unknown(reason), of: path, at: state.place)
                    }
                }
            }
        }
        guard let failure = states[source].failure else { return }
        for path in unread { trails.take(.unknown(failure), of: path, at: state.place) }
    }

    // MARK: - Failures

    /// Runs `body`, and notes that the state cannot be read if so.
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

    /// Runs `body`, and notes that a store of the state cannot be read if so.
    ///
    /// - Returns: whether it could.
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

    /// Notes once that a store cannot be read, and returns why.
    private func fail(_ index: Int, store path: String, _ error: any Error) -> String {
        if let reason = states[index].broken[path] { return reason }
        let reason = explain(error)
        let told = withoutName(reason, index)
        states[index].broken[path] = told
        problems.append(Problem(unreadable: name(of: index), reason))
        return told
    }

    /// Returns a reason without the name of the backup: of several that follow each other it is the same then.
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

    /// Whether an error says that a state cannot be read, and not that the question is wrong or that all is to end.
    private static func isOfTheState(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is QueryError: false
        case LookingError.badCondition, LookingError.noColumn: false
        default: true
        }
    }
}
