internal import Changes
internal import Files
public import Foundation
public import Stores
public import Sync

extension SyncPlaces {
    /// The things that a user may want to settle.
    public struct Conflicts: Sendable {
        /// The edits that lost, the newest first.
        public var conflicts: [SyncConflict]
        /// The rows that exist but are not shown.
        public var unshown: [UnshownRow]
        /// The facts about the store.
        public var overview: SyncOverview
    }

    /// Returns the edits that lost, and the rows that are not shown.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - all: whether everything is returned that sync took out of the store, instead of edits that lost.
    /// - Returns: the edits or rows, the rows that are not shown, and the overview.
    /// - Throws: `SidecarError`, `FileError`.
    public func conflicts(of store: Store, all: Bool = false) throws -> Conflicts {
        let sidecar = try Sidecar(in: sidecar(of: store))
        defer { try? sidecar.close() }
        return Conflicts(
            conflicts: try sidecar.conflicts(all: all),
            unshown: try sidecar.unshownRows(),
            overview: try SyncOverview(of: sidecar)
        )
    }

    /// Returns all values of an entry.
    ///
    /// - Throws: `SyncError.noConflict`, `SidecarError`, `FileError`.
    public func values(
        ofConflict number: Int64,
        of store: Store
    ) throws -> [(column: String, value: String)] {
        let sidecar = try Sidecar(in: sidecar(of: store))
        defer { try? sidecar.close() }
        guard let values = try sidecar.removedValues(number) else {
            throw SyncError.noConflict(number, store: store.path.description)
        }
        return values
    }

    /// Turns what lost or was taken out of the store into a new edit; the next exchange writes and sends it.
    ///
    /// - Parameters:
    ///   - number: the entry's number in the store's list.
    ///   - setting: new values by columns.
    ///   - all: whether it may be an entry that only the list of everything has.
    ///   - store: the store.
    ///   - date: the time of the user's decision.
    ///   - program: the program and its version.
    /// - Returns: the rows that were taken.
    /// - Throws: `SyncError.noConflict`, `.unfit`; `RemoteError`, `SidecarError`, `FileError`.
    public func takeConflict(
        _ number: Int64,
        setting: [String: String] = [:],
        all: Bool,
        of store: Store,
        at date: Date,
        program: String
    ) async throws -> [TakenRow] {
        try await withSidecar(of: store) { sidecar in
            var rows: [TakenRow] = []
            func take() throws -> TakenConflict {
                try sidecar.takeConflict(
                    number,
                    setting: setting,
                    of: store,
                    all: all,
                    at: date,
                    program: program
                ) { rows.append($0) }
            }
            var taken = try take()
            if case .lacksContent(let content) = taken {
                if try await fetch(content, to: sidecar) { taken = try take() }
            }
            let name = store.path.description
            if taken == .nothing { throw SyncError.noConflict(number, store: name) }
            if let reason = taken.refusal(of: number) {
                let values = setting.map { "\($0)=\($1)" }.sorted()
                throw SyncError.unfit(values, number, store: name, reason: reason)
            }
            return rows
        }
    }

    /// Removes all entries from the list, or one; the edits that won stay.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - number: the entry's number; `nil` for all.
    /// - Returns: the number of removed conflicts.
    /// - Throws: `SidecarError`, `FileError`.
    public func clearConflicts(of store: Store, _ number: Int64? = nil) async throws -> Int64 {
        let count = try await withSidecar(of: store) { try $0.clearConflicts(number) }
        if let number, count == 0 {
            throw SyncError.noConflict(number, store: store.path.description)
        }
        return count
    }

    /// Fetches content from the container, and returns whether anything of it is there.
    private func fetch(
        _ content: Set<BlobReference>,
        to sidecar: Sidecar
    ) async throws -> Bool {
        let overview = try SyncOverview(of: sidecar)
        guard let group = overview.group.flatMap({ GroupName($0) }) else { return false }
        let container = try container(of: group, at: overview.container ?? "")
        return try await sidecar.fetch(content, from: container, check: context.checkCancellation)
    }
}

extension TakenConflict {
    /// Returns the reason why an entry was not taken; `nil` if it was, or if there is none.
    fileprivate func refusal(of number: Int64) -> String? {
        switch self {
        case .taken, .nothing: nil
        case .notAsked:
            "it is no edit that lost: if you mean it, run 'grocerydude sync conflicts take \(number) --all'"
        case .lacksContent:
            "the content of a file or a long value of it is neither on this machine nor in the container any more"
        case .noColumn: "the row has no such column"
        case .noRow: "no row of the store has that number"
        case .deletedHere: "this machine deleted the row: take it on another one"
        case .lacksValue:
            "another row has the same unique value: add 'COLUMN=VALUE' with another value"
        case .isBelow(let entry):
            "a row that it belongs to is not shown"
                + (entry.map { ": run 'grocerydude sync conflicts take \($0)' first" } ?? "")
        case .noParent(let column):
            "this machine deleted the row that '\(column)' names: take it on another one, or add '\(column)=KEY' with the key of another row"
        }
    }
}
