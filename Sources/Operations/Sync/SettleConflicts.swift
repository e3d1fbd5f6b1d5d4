internal import Files
public import Foundation
public import Stores
public import Sync

/// Shows the edits of a store that lost, takes one back, or forgets them.
public struct SettleConflicts: Sendable {
    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
    }

    /// What a person may want to settle.
    public struct List: Sendable {
        /// The edits that lost, the newest first.
        public var conflicts: [SyncConflict]
        /// The rows that are alive and not shown.
        public var unshown: [UnshownRow]
        /// What is known of the store.
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

    /// Makes the value that lost a new edit; the next exchange writes and sends it.
    ///
    /// - Parameters:
    ///   - number: the conflict's number in the store's list.
    ///   - store: the store.
    ///   - date: when the person decided.
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

    /// Takes all off the list; what won stays.
    ///
    /// - Returns: how many there were.
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
