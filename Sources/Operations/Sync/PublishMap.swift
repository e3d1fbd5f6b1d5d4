public import Changes
internal import Files
public import Foundation
public import Stores
internal import Sync

/// Makes a map the group's.
public struct PublishMap: Sendable {
    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
    }

    /// Notes a map; the next exchange tells the others.
    ///
    /// - Parameters:
    ///   - map: what it says.
    ///   - store: the store whose group it is for; it must sync by it.
    ///   - date: now.
    ///   - program: the program and its version, as files tell it.
    /// - Throws: `SyncError.refused`, `.nothingToSync`, `StoreError`, `SidecarError`, `FileError`.
    public func run(_ map: SyncMap, of store: Store, at date: Date, program: String) async throws {
        let name = store.path.description
        let directory = places.sidecar(of: store)
        try await context.withLock(on: directory) {
            let preview = try store.withSnapshot(context) { snapshot in
                try SyncPreview(
                    of: snapshot,
                    map: map,
                    checkCancellation: context.checkCancellation
                )
            }
            guard preview.refusals.isEmpty else {
                throw SyncError.refused(store: name, preview.refusals)
            }
            guard !preview.tables.isEmpty else {
                throw SyncError.nothingToSync(store: name, preview.leftOut)
            }
            for unknown in preview.unknownNames {
                context.warn("the map tells of '\(unknown)', which '\(name)' has not")
            }
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
            try sidecar.publish(map, at: date, program: program)
        }
    }
}
