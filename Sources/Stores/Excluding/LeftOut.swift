public import Files
internal import SystemPackage

/// The files and directories that a walk of a stores directory left out.
public struct LeftOut: Sendable {
    /// The greatest number of paths kept here.
    public static let pathsLimit = 100

    /// The number of paths left out; the contents of a directory among them are not counted.
    public private(set) var count = 0
    /// The first of the paths, up to the limit.
    public private(set) var paths: [RelativePath] = []
    /// The stores left out, except those inside directories that are left out.
    public private(set) var stores: [Store] = []

    /// SQLite's files beside these stores, and the directories of their external data.
    ///
    /// A store without them would be incomplete.
    public private(set) var parts: Set<RelativePath> = []

    mutating func add(_ file: WalkedFile, asStoreIn directory: FilePath?) {
        count += 1
        if paths.count < Self.pathsLimit { paths.append(file.path) }
        guard let directory else { return }
        stores.append(Store(path: file.path, directory: directory, identity: file.info.identity))
    }

    /// Finds the parts of the stores left out, except parts that a present store shares.
    fileprivate mutating func findParts(beside present: [Store]) {
        parts = Set(stores.flatMap { $0.files.dropFirst() + [$0.supportDirectory] })
        for store in present {
            parts.subtract(store.files)
            parts.remove(store.supportDirectory)
        }
    }
}

extension StoresDirectory.Survey {
    /// Removes stores and files that are parts of stores left out.
    mutating func removePartsOfLeftOutStores() {
        guard !leftOut.stores.isEmpty else { return }
        leftOut.findParts(beside: stores)
        let parts = leftOut.parts
        func isPart(_ path: RelativePath) -> Bool {
            sequence(first: path, next: \.parent).contains { parts.contains($0) }
        }
        stores.removeAll { isPart($0.path) }
        storeFiles = storeFiles.filter { !isPart($0) }
        resembling = resembling.filter { !isPart($0.key) }
    }
}
