internal import Files
internal import Stores

extension BackupWriter {
    /// Returns whether something is left out: the user said so, or it is a part of a store that is.
    ///
    /// Files that rows refer to come all the same, with `addLeftOut`.
    func isLeftOut(_ file: WalkedFile) -> Bool {
        leftOut.parts.contains(file.path) || plan.options.leavingOut.leavesOut(file)
    }

    /// Says what was left out: of each store, since that may be a mistake, and of all else in detail.
    func tellLeftOut() {
        for store in leftOut.stores {
            context.note("the store '\(store.path)' is left out, with all of its files")
        }
        let stores = Set(leftOut.stores.map(\.path))
        for path in leftOut.paths where !stores.contains(path) {
            context.tellDetail("'\(path)' is left out")
        }
        let rest = leftOut.count - leftOut.paths.count
        if rest > 0 { context.tellDetail("\(rest) more are left out") }
    }
}
