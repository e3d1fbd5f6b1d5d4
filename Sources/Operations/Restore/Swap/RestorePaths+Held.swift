internal import Files
internal import Stores
internal import SystemPackage

extension RestorePaths {
    /// Returns the paths for a restore inside the stores directory if a process would still see that directory after a
    /// rename: a container, or a shell that works in it.
    ///
    /// - Parameter note: receives a message if there is such a process.
    /// - Returns: these paths, or those inside the directory.
    func sparingHeld(_ note: (String) -> Void) -> RestorePaths {
        guard layout == .beside,
            let holder = DirectoryHolder.of(live).first(where: { $0.path == nil })
        else { return self }
        guard live.allowsChanges else {
            note("'\(printable(live))' changes its place, and \(holder): have it opened again")
            return self
        }
        note("'\(printable(live))' stays, and its contents are replaced: \(holder)")
        return RestorePaths(live: live, .inside)
    }
}

extension StoresDirectory {
    /// Throws `RestoreError.held` if a process sees something in the directory, or in a part of it, even after a
    /// rename: it would keep the present data, and write to it.
    func refuseIfHeld(of part: RestoredPart? = nil) throws {
        for holder in DirectoryHolder.of(path) {
            guard let held = holder.path, part?.contains(held) ?? true else { continue }
            throw RestoreError.held(held.below(path), by: holder)
        }
    }
}
