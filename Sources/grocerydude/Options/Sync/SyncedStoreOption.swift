internal import ArgumentParser
internal import Files
internal import Operations
internal import Stores

/// The option for a store, if several take part.
struct SyncedStoreOption: ParsableArguments {
    @Option(
        help: "The store, if several take part: its name in the stores directory.".value("name")
    )
    var store: String?

    /// Returns the wanted stores.
    func stores(in places: SyncPlaces) throws -> [Store] {
        try places.enabled(named: store.map { [$0] } ?? [])
    }

    /// Returns the wanted store.
    func only(in places: SyncPlaces) throws -> Store {
        let stores = try stores(in: places)
        guard stores.count == 1, let only = stores.first else {
            throw SyncError.severalStores(
                stores.map(\.path.description),
                in: places.directory
            )
        }
        return only
    }
}

/// The option for some of the stores that take part.
struct SyncedStoresOption: ParsableArguments {
    @Option(
        help:
            "Only this store: its name in the stores directory; may be given several times."
            .value("name")
    )
    var store: [String] = []
}
