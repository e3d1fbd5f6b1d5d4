public import Files
internal import SystemPackage

/// Everything that a walk of a stores directory passed over because it was to be left out.
public struct LeftOut: Sendable {
    /// How many of the paths are kept here.
    public static let pathsLimit = 100

    /// How many there are; what is in a directory among them is not counted.
    public private(set) var count = 0
    /// The first of them.
    public private(set) var paths: [RelativePath] = []
    /// The stores among them, but for those in directories that are left out.
    public private(set) var stores: [Store] = []

    /// SQLite's files beside these stores, and the directories of their external data: a store without
    /// them would be half of one.
    public private(set) var parts: Set<RelativePath> = []

    mutating func add(_ file: WalkedFile, asStoreIn directory: FilePath?) {
        count += 1
        if paths.count < Self.pathsLimit { paths.append(file.path) }
        guard let directory else { return }
        stores.append(Store(path: file.path, directory: directory, identity: file.info.identity))
    }

    /// Finds the parts of the stores; a part that another store has too stays that one's.
    fileprivate mutating func findParts(beside present: [Store]) {
        parts = Set(stores.flatMap { $0.files.dropFirst() + [$0.supportDirectory] })
        for store in present {
            parts.subtract(store.files)
            parts.remove(store.supportDirectory)
        }
    }
}

extension StoresDirectory.Survey {
    /// Takes out what the walk saw of the external data of stores that are left out.
    mutating func removePartsOfLeftOutStores() {
        guard !leftOut.stores.isEmpty else { return }
        leftOut.findParts(beside: stores)
        let parts = leftOut.parts
        func isPart(_ path: RelativePath) -> Bool {
            sequence(first: path, next: \.parent).contains { parts.contains($0) }
        }
        stores.removeAll { isPart($0.path) }
        storeFiles = storeFiles.filter { !isPart($0) }
    }
}
