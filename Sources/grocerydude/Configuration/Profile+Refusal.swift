internal import Files
internal import Operations
internal import Remotes
internal import SystemPackage

extension Profile {
    /// Refuses settings with which no backup would be made, whatever the stores and the folder are like.
    ///
    /// - Parameter console: shows warnings about files of keys.
    /// - Throws: `OperationError.keepsNothing`, `.remoteInsideStores`; errors of keys.
    func refuseUseless(on console: Console) throws {
        try requirePolicy(retention)
        if case .directory(let directory) = RemoteAddress(remote),
            FilePath(directory).resolvedIfPresent.starts(with: stores.resolvedIfPresent)
        {
            throw OperationError.remoteInsideStores(remote, stores)
        }
        try KeyRing(keys, console).check()
    }

    /// Refuses to make backups that prune if nothing says what to keep, since a backup alone would look like success.
    ///
    /// - Parameter policy: the policy in force.
    /// - Throws: `OperationError.keepsNothing`.
    func requirePolicy(_ policy: RetentionPolicy) throws {
        guard prunes, policy.isEmpty else { return }
        throw OperationError.keepsNothing(
            "'prune' is set, and no policy says what to keep, so no backup is made either"
        )
    }
}
