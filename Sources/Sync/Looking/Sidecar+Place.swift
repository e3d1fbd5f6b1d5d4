internal import Files
public import SystemPackage

extension Sidecar {
    /// Returns the directory for the sidecar of a store, in that of all sidecars of this user.
    ///
    /// The store's path has no symbolic links in it; there may be a sidecar or not.
    public static func directory(for store: FilePath, in parent: FilePath) -> FilePath {
        let digest = Array(store.string.utf8).withUnsafeBytes { Digest(of: $0) }
        return parent.appending(String(digest.description.prefix(16)))
    }
}
