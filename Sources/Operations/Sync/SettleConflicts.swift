internal import Files
public import Foundation
public import Stores
public import Sync

/// Lists the edits of a store that lost, restores one, or forgets all.
public struct SettleConflicts: Sendable {
    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
    }

    /// The things that a user may want to settle.
    public struct List: Sendable {
        /// The edits that lost, the newest first.
        public var conflicts: [SyncConflict]
        /// The rows that exist but are not shown.
        public var unshown: [UnshownRow]
        /// The facts about the store.
        public var overview: SyncOverview
    }

    /// Returns the edits that lost, and the rows that are not shown.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    public func list(_ store: Store) throws -> List {
        let sidecar = try Sidecar(in: places.sidecar(of: store))
        defer { try? sidecar.close() }
        return List(
            conflicts: try sidecar.conflicts(),
            unshown: try sidecar.unshownRows(),
            overview: try SyncOverview(of: sidecar)
        )
    }

    /// Turns the value that lost into a new edit; the next exchange writes and sends it.
    ///
    /// - Parameters:
    ///   - number: the conflict's number in the store's list.
    ///   - store: the store.
    ///   - date: the time of the user's decision.
    ///   - program: the program and its version.
    /// - Throws: `SyncError.noConflict`, `SidecarError`, `FileError`.
    public func take(_ number: Int64, of store: Store, at date: Date, program: String) async throws
    {
        try await withSidecar(of: store) { sidecar in
            guard try sidecar.takeConflict(number, at: date, program: program) else {
                throw SyncError.noConflict(number, store: store.path.description)
            }
        }
    }

    /// Removes all conflicts from the list; the edits that won stay.
    ///
    /// - Returns: the number of removed conflicts.
    /// - Throws: `SidecarError`, `FileError`.
    public func clear(_ store: Store) async throws -> Int64 {
        try await withSidecar(of: store) { try $0.clearConflicts() }
    }

    private func withSidecar<Result>(
        of store: Store,
        _ body: (Sidecar) throws -> Result
    ) async throws -> Result {
        let directory = places.sidecar(of: store)
        return try await context.withLock(on: directory) {
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
            return try body(sidecar)
        }
    }
}
