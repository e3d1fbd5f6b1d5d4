internal import Archives
internal import Files
internal import Stores
internal import SystemPackage

/// A comparison of two states whose entries are listed.
struct Comparison {
    let old: ComparedState
    let new: ComparedState
    let options: CompareStates.Options
    let context: OperationContext
    /// The stores by the directories of their external data.
    ///
    /// There may be as many such files as rows.
    private let externalDataStores: [RelativePath: String]

    init(
        from old: ComparedState,
        to new: ComparedState,
        options: CompareStates.Options,
        context: OperationContext
    ) {
        self.old = old
        self.new = new
        self.options = options
        self.context = context
        var stores: [RelativePath: String] = [:]
        for items in [new.items, old.items] {
            for (path, item) in items where item.isStore {
                stores[Store.externalDataDirectory(of: path)] = path.description
            }
        }
        externalDataStores = stores
    }

    /// Reports each difference.
    ///
    /// - Throws: see `CompareStates.run`.
    func run(_ report: (Difference) throws -> Void) throws -> CompareStates.Outcome {
        let known = Set(old.items.keys).union(new.items.keys).filter { path in
            [old, new].allSatisfy { !$0.lacks(path) }
        }
        let paths = try wanted(known.sorted())
        let chosen = try chosenStores(paths)
        let unequal = chosen.filter { path in
            isStoreInBoth(path) ? !isEqual(path) : true
        }
        for state in [old, new] { try state.prepare(unequal, context) }
        var outcome = CompareStates.Outcome()
        for state in [old, new] {
            for (path, error) in state.failures.sorted(by: { $0.key < $1.key }) {
                let unread = UnreadStore(
                    path: path.description,
                    isLive: state.isLive,
                    place: state.place,
                    error: error
                )
                outcome.unread.append(unread)
                try report(.unread(unread))
            }
        }
        if options.reportsStatements { return try reportStatements(unequal, &outcome, report) }
        let stores = Set(unequal)
        let isWhole = options.store == nil && options.table == nil
        for path in paths {
            try context.checkCancellation()
            if stores.contains(path) {
                try compareStore(at: path, isWhole: isWhole, &outcome, report)
            } else if isWhole {
                try compareFile(at: path, &outcome, report)
            }
        }
        return outcome
    }

    /// Returns the paths to compare.
    private func wanted(_ paths: [RelativePath]) throws -> [RelativePath] {
        guard !options.only.isEmpty else { return paths }
        let named = NamedPaths(options.only)
        var found: Set<Int> = []
        var stores: Set<ExactString> = []
        for path in new.items.keys {
            guard let match = named.match(path) else { continue }
            found.formUnion(match.indices)
            if match.root == path { stores.insert(path.description.exact) }
        }
        if options.onlyOfEither {
            for path in old.items.keys { found.formUnion(named.match(path)?.indices ?? []) }
        }
        guard let missing = named.names.indices.first(where: { !found.contains($0) }) else {
            return paths.filter { path in
                // External data that only the old state has would stay.
                named.match(path) != nil
                    || new.items[path] != nil
                        && externalDataStore(of: path).map { stores.contains($0.exact) } ?? false
            }
        }
        let names = new.items.keys.map(\.description)
        throw LookingError.noFile(named.names[missing], in: "the backup", among: names)
    }

    // MARK: - Files

    private func isStoreInBoth(_ path: RelativePath) -> Bool {
        old.items[path]?.isStore == true && new.items[path]?.isStore == true
    }

    /// Returns whether both states have the same pages of a store.
    ///
    /// A live store is read as a file, which takes a fraction of the time of its rows: after a restore all are equal. No
    /// connection to it is open yet.
    private func isEqual(_ path: RelativePath) -> Bool {
        if old.hasSameStore(path, as: new) { return true }
        guard old.isLive || new.isLive else { return false }
        return (try? old.hasSameContent(path, as: new, readsAnyway: true, context)) ?? false
    }

    func compareFile(
        at path: RelativePath,
        _ outcome: inout CompareStates.Outcome,
        _ report: (Difference) throws -> Void
    ) throws {
        guard let file = try fileDifference(at: path) else { return }
        outcome.differs = true
        try report(.file(file))
    }

    /// Returns the difference of a file, without the rows of a store; `nil` if there is none.
    private func fileDifference(at path: RelativePath) throws -> FileDifference? {
        var difference = FileDifference(
            path: path.description,
            type: (new.items[path] ?? old.items[path])?.type ?? "",
            change: .changed,
            aspects: [],
            oldSize: old.items[path]?.size,
            newSize: new.items[path]?.size,
            externalDataOf: externalDataStore(of: path)
        )
        guard let before = old.items[path], let after = new.items[path] else {
            let item = old.items[path] ?? new.items[path]
            difference.change = old.items[path] == nil ? .added : .removed
            return item?.isStore == true ? nil : difference
        }
        difference.aspects = try aspects(path, before, after)
        return difference.aspects.isEmpty ? nil : difference
    }

    private func aspects(
        _ path: RelativePath,
        _ before: ComparedState.Item,
        _ after: ComparedState.Item
    ) throws -> [FileDifference.Aspect] {
        var aspects: [FileDifference.Aspect] = []
        if before.type != after.type || before.isStore != after.isStore { aspects.append(.type) }
        let isStore = before.isStore && after.isStore
        if before.type != "directory", !isStore, aspects.isEmpty,
            try !old.hasSameContent(path, as: new, context)
        {
            aspects.append(.content)
        }
        guard old.isDescribed, new.isDescribed else { return aspects }
        if before.mode != after.mode, before.type != "link" { aspects.append(.mode) }
        if before.owner != after.owner { aspects.append(.owner) }
        // A directory's time depends on its content, a store's time on its rows.
        if before.type != "directory", !isStore, before.modified != after.modified {
            aspects.append(.time)
        }
        return aspects
    }

    /// Returns the store that a file is external data of; `nil` if it is none.
    private func externalDataStore(of path: RelativePath) -> String? {
        guard ExternalReference(name: path.name.bytes) != nil, let parent = path.parent else {
            return nil
        }
        return externalDataStores[parent]
    }

    // MARK: - Stores

    /// Returns the stores to compare.
    private func chosenStores(_ paths: [RelativePath]) throws -> [RelativePath] {
        let stores = paths.filter {
            old.items[$0]?.isStore == true || new.items[$0]?.isStore == true
        }
        guard let name = options.store else { return stores }
        let path = StoreChoice.named(name, among: stores.lazy.map(\.description))
        let named = stores.filter { $0.description.exact == path?.exact }
        let called = stores.filter { $0.name.description.exact == name.exact }
        let found = named.isEmpty ? called : named
        guard !found.isEmpty else {
            throw LookingError.noStore(
                name,
                in: "either state",
                stores: stores.map(\.description)
            )
        }
        return found
    }
}

extension ComparedState {
    /// Whether two states are known to have the same pages of a store.
    fileprivate func hasSameStore(_ path: RelativePath, as other: ComparedState) -> Bool {
        guard let digests = items[path]?.digests else { return false }
        return digests == other.items[path]?.digests
    }

    /// Returns the segments that two states' files of a store are known to share; `nil` if nothing is known.
    func segments(
        of path: RelativePath,
        sharedWith other: ComparedState
    ) -> SharedSegments? {
        guard let digests = items[path]?.digests, let others = other.items[path]?.digests else {
            return nil
        }
        return SharedSegments(digests, others, size: Segment.size)
    }
}
